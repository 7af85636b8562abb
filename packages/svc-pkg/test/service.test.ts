import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { DATASET, fakeService, type Handler, json, problem, type SeenRequest } from './fake-service.ts';
import { captured, svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

const OTHER_ID = '7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The parts of a multipart form by their names. */
async function formOf(request: SeenRequest): Promise<FormData> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return new Response(new Uint8Array(request.body), { headers }).formData();
}

describe('upload', () => {
  it('sends the file with its name and prints the dataset', async () => {
    const service = await fakeService({ 'POST /datasets/upload': json(DATASET, 201) });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' }, {}, 'ä "quoted".pkg.zip');
    const outcome = await svcPkg([
      'upload',
      path,
      '--name',
      'Näme',
      '--description',
      'two\nlines',
      '--api-url',
      service.url,
    ]);
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(outcome.stdout).toBe(
      `dataset       ${DATASET.id}\nname          sample\nversion       1\nversion hash  ${DATASET.version_hash}\nitems         2 in 1 section\nassets        0\n`,
    );
    const [request] = service.requests;
    expect(Number(request!.headers['content-length'])).toBe(request!.body.byteLength);
    expect(request!.headers).toMatchObject({ 'user-agent': 'svc-pkg/9.9.9' });
    expect(request!.headers.authorization).toBeUndefined();
    const form = await formOf(request!);
    expect([form.get('name'), form.get('description')]).toEqual(['Näme', 'two\nlines']);
    const file = form.get('file') as File;
    expect(file.name).toBe('ä "quoted".pkg.zip');
    expect(sha256(new Uint8Array(await file.arrayBuffer()))).toBe(sha256(await readFile(path)));
  });

  it('prints the response unchanged with --json', async () => {
    const text = `{"id":"1","version_hash":"${DATASET.version_hash}","item_count":12345678901234567890}`;
    const service = await fakeService({ 'POST /datasets/upload': json(text, 201) });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    expect(await svcPkg(['--json', 'upload', path, '--api-url', service.url])).toMatchObject({
      exitCode: 0,
      stdout: `${text}\n`,
    });
  });

  it.each([
    ['SVC_API_KEY', [], { SVC_API_KEY: 'k1' }, 'Bearer k1'],
    ['a variable of any name', ['--api-key-env', 'MY_KEY'], { SVC_API_KEY: 'k1', MY_KEY: 'k2' }, 'Bearer k2'],
    ['no key if there is none', [], { SVC_API_KEY: '' }, undefined],
  ])('takes the key from %s', async (_name, argv, env, authorization) => {
    const service = await fakeService({ 'POST /datasets/upload': json(DATASET, 201) });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    await svcPkg(['upload', path, ...argv], { env: { ...env, SVC_API_URL: `${service.url}/` } });
    expect(service.requests[0]?.headers.authorization).toBe(authorization);
  });

  it('finds a service below a path', async () => {
    const service = await fakeService({ 'POST /svc/v1/datasets/upload': json(DATASET, 201) });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    expect(await svcPkg(['upload', path, '--api-url', `${service.url}/svc/v1/`])).toMatchObject({
      exitCode: 0,
    });
  });

  const refused = problem(400, 'package_invalid_line', 'The value is wrong', {
    errors: [
      { message: 'The value is wrong', file: 'sections/a.jsonl', line: 3, column: 7, path: '/inputs' },
      { message: '/id must be a string', file: 'sections/a.jsonl', line: 4, path: '/id' },
    ],
    errors_total: 4,
  });

  it('prints every error of the service with its location', async () => {
    const service = await fakeService({ 'POST /datasets/upload': refused });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    expect(await svcPkg(['upload', path, '--api-url', service.url])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr:
        'sections/a.jsonl:3:7: The value is wrong at /inputs (package_invalid_line)\n' +
        'sections/a.jsonl:4: /id must be a string\n  ... and 2 more\n' +
        `Every error with its line: svc-pkg check ${path}\n`,
    });
    const outcome = await svcPkg(['upload', path, '--api-url', service.url, '--json']);
    expect(outcome.error()).toEqual({
      code: 'package_invalid_line',
      message: 'The value is wrong',
      exit_code: 1,
      status: 400,
      request_id: 'f00d',
      errors: [
        { message: 'The value is wrong', file: 'sections/a.jsonl', line: 3, column: 7, path: '/inputs' },
        { message: '/id must be a string', file: 'sections/a.jsonl', line: 4, path: '/id' },
      ],
      errors_total: 4,
    });
  });

  it('says when to try again, and the id of the request', async () => {
    const service = await fakeService({
      'POST /datasets/upload': problem(503, 'unavailable', 'Too many imports', {}, { 'retry-after': '12' }),
    });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    const { exitCode, stderr } = await svcPkg(['upload', path, '--api-url', service.url]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'svc-pkg: Too many imports (unavailable)\n  Try again in 12 s.\n  Request ID: f00d\n',
    );
  });

  it('accepts a response that arrives before everything is sent', async () => {
    const early: Handler = (_request, response, raw) => {
      problem(413, 'upload_too_large', 'The file is larger than 5 bytes')(_request, response, raw);
      raw.resume();
    };
    const service = await fakeService({ 'raw POST /datasets/upload': early });
    const path = join(await temporaryFolder(), 'large.pkg.zip');
    await writeFile(path, Buffer.alloc(20 * 1024 * 1024));
    const { exitCode, stderr } = await svcPkg(['upload', path, '--api-url', service.url]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('(upload_too_large)');
  });

  it.each([
    ['a missing file', 'missing.zip', /no such file/],
    ['a folder', '.', /it is not a regular file/],
    ['an empty file', '/dev/null', /it is not a regular file/],
  ])('sends nothing for %s', async (_name, path, message) => {
    const service = await fakeService({});
    const outcome = await svcPkg(['upload', path, '--api-url', service.url]);
    expect(outcome.exitCode).toBe(3);
    expect(outcome.stderr).toMatch(message);
    expect(service.requests).toEqual([]);
  });

  it('follows the job of an import in the background to the dataset', async () => {
    const states = ['queued', 'running', 'succeeded'];
    const job = (status: string) => ({
      id: 'j1',
      status,
      progress: { rows_done: 1, rows_total: 2 },
      dataset_id: status === 'succeeded' ? DATASET.id : null,
      error: null,
      created_at: DATASET.created_at,
    });
    const service = await fakeService({
      'POST /datasets/upload': (request, response, raw) => {
        expect(request.headers['prefer']).toBe('respond-async');
        return json(job(states.shift() ?? ''), 202)(request, response, raw);
      },
      'GET /jobs/j1': (request, response, raw) => json(job(states.shift() ?? ''))(request, response, raw),
      [`GET /datasets/${DATASET.id}`]: json(DATASET),
    });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    const outcome = await svcPkg(['upload', path, '--json', '--api-url', service.url]);
    expect(outcome.exitCode).toBe(0);
    expect(outcome.document()).toEqual(DATASET);
    expect(states).toEqual([]);
  });

  it('accepts the dataset if the service creates it immediately', async () => {
    const service = await fakeService({ 'POST /datasets/upload': json(DATASET, 201) });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    const outcome = await svcPkg(['upload', path, '--json', '--api-url', service.url]);
    expect(outcome.document()).toEqual(DATASET);
  });

  const RUN = 'f3f6a3f0-52d7-4d4c-8f0e-0d9b8b1c2a3d';

  it('shows the run that it added to an existing dataset', async () => {
    const stored = { ...DATASET, dataset_id: DATASET.id, run_id: RUN };
    const service = await fakeService({ 'POST /datasets/upload': json(stored) });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    const argv = ['upload', path, '--no-background', '--api-url', service.url];
    expect((await svcPkg([...argv, '--json'])).document()).toEqual(stored);
    const { stdout, stderr } = await svcPkg(argv, { isTerminal: true });
    expect(stdout).toContain(`run           ${RUN}, added to this dataset, which existed\n`);
    expect(stderr).toContain(`Next: svc-pkg results ${RUN}, or svc-pkg open --run ${RUN}\n`);
  });

  it.each([
    [
      'failed',
      { code: 'package_corrupt', detail: 'It is damaged', status: 400 },
      'svc-pkg: It is damaged (package_corrupt)\n',
    ],
    ['cancelled', null, 'svc-pkg: Job j1 ended without a dataset: its status is cancelled (job_ended)\n'],
  ])('reports a job that %s', async (status, error, stderr) => {
    const service = await fakeService({
      'POST /datasets/upload': json({ id: 'j1', status, progress: null, dataset_id: null, error }, 202),
    });
    const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
    expect(await svcPkg(['upload', path, '--api-url', service.url])).toMatchObject({
      exitCode: 1,
      stderr,
    });
  });
});

describe('a service that does not respond as expected', () => {
  it('is not there', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const { exitCode, stderr } = await svcPkg([
      'export',
      DATASET.id,
      '--api-url',
      `http://127.0.0.1:${port}`,
    ]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `svc-pkg: Cannot connect to http://127.0.0.1:${port}: connection refused (service_unreachable)\nTo use another service, pass --api-url <url>, or run svc-pkg login --api-url <url>\n`,
    });
  });

  it.each<[string, Handler, RegExp]>([
    [
      'loses the connection',
      (_request, response) => void response.destroy(),
      /^svc-pkg: Connection to .* lost .*\(connection_lost\)/m,
    ],
    [
      'is something else',
      (_request, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>'),
      /status 502 with text\/html instead of a problem document \(bad_response\)/,
    ],
    [
      'sends elsewhere',
      (_request, response) => void response.writeHead(302, { location: 'http://example.org/' }).end(),
      /status 302 .*\(bad_response\)/,
    ],
    ['returns no JSON', (_request, response) => void response.end('hello'), /not JSON \(bad_response\)/],
    ['returns no list', json({}), /returned no list \(bad_response\)/],
    [
      'writes to the terminal',
      problem(400, 'invalid_request', '\u001b[31mred'),
      /^svc-pkg: \\u001b\[31mred \(invalid_request\)$/m,
    ],
  ])('%s', async (_name, handler, message) => {
    const service = await fakeService({ 'GET /datasets': handler });
    const { exitCode, stderr } = await svcPkg(['export', 'some name', '--api-url', service.url], {
      env: { SVC_API_KEY: 'sesame' },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('sesame');
  });
});

describe('export', () => {
  const path = `/datasets/${DATASET.id}/export`;
  const archive = Buffer.from('PK and the rest');
  const zip =
    (disposition?: string): Handler =>
    (_request, response) => {
      response.setHeader('content-type', 'application/zip');
      if (disposition !== undefined) response.setHeader('content-disposition', disposition);
      response.write(archive.subarray(0, 5));
      response.end(archive.subarray(5));
    };

  it('writes to the named file', async () => {
    const service = await fakeService({ [`GET ${path}`]: zip() });
    const output = join(await temporaryFolder(), 'out.zip');
    const outcome = await svcPkg([
      'export',
      DATASET.id,
      '--run',
      'r 1',
      '--allow-incomplete',
      '--output',
      output,
      '--api-url',
      service.url,
      '--json',
    ]);
    expect(outcome.document()).toEqual({
      dataset_id: DATASET.id,
      run_id: 'r 1',
      output,
      bytes: archive.byteLength,
    });
    expect(outcome.exitCode).toBe(0);
    expect(await readFile(output)).toEqual(archive);
    const asked = new URL(service.requests[0]!.url, service.url).searchParams;
    expect(Object.fromEntries(asked)).toEqual({ run_id: 'r 1', allow_incomplete: 'true' });
  });

  it.each([
    [
      'as the service says',
      `attachment; filename="plain.pkg.zip"; filename*=UTF-8''sch%C3%B6n.pkg.zip`,
      'schön.pkg.zip',
    ],
    ['without the folders that the service proposes', 'attachment; filename="../../etc/passwd"', 'passwd'],
    ['by its id if the service proposes nothing', undefined, `${DATASET.id}.pkg.zip`],
    ['by its id if the service proposes no file name', 'attachment; filename=".."', `${DATASET.id}.pkg.zip`],
  ])('names the file %s', async (_name, disposition, name) => {
    const service = await fakeService({ [`GET ${path}`]: zip(disposition) });
    const folder = await temporaryFolder();
    const { exitCode, stdout } = await svcPkg([
      'export',
      DATASET.id,
      '--output',
      folder,
      '--api-url',
      service.url,
    ]);
    expect(exitCode).toBe(0);
    expect(await readdir(folder)).toEqual([name]);
    expect(stdout).toContain(`output   ${join(folder, name)}\n`);
  });

  it('writes the archive and nothing else to standard output', async () => {
    const service = await fakeService({ [`GET ${path}`]: zip() });
    const out = captured();
    const argv = ['export', DATASET.id, '--output', '-', '--api-url', service.url];
    expect(await svcPkg(argv, { stdout: out.stream })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(out.bytes()).toEqual(archive);
    const outcome = await svcPkg([...argv, '--json']);
    expect(JSON.parse(outcome.stderr)).toMatchObject({ output: '-', bytes: archive.byteLength });
  });

  it('finds a dataset by its name', async () => {
    const service = await fakeService({
      'GET /datasets': json({ data: [DATASET], meta: { limit: 100, next_cursor: null, total_items: 1 } }),
      [`GET ${path}`]: zip(),
    });
    const folder = await temporaryFolder();
    expect(await svcPkg(['export', 'my & set', '--output', folder, '--api-url', service.url])).toMatchObject({
      exitCode: 0,
    });
    expect(new URL(service.requests[0]!.url, service.url).searchParams.get('name')).toBe('my & set');
  });

  it.each([
    [
      'does not exist',
      [],
      'svc-pkg: Dataset "x" not found (dataset_not_found)\nList datasets: svc-pkg list\n',
    ],
    [
      'two have',
      [DATASET.id, OTHER_ID],
      `svc-pkg: Several datasets are named "x"; use an id: ${DATASET.id}, ${OTHER_ID} (dataset_ambiguous)\n`,
    ],
  ])('refuses a name that %s', async (_name, ids, stderr) => {
    const page = { data: ids.map((id) => ({ id })), meta: { limit: 100, next_cursor: null } };
    const service = await fakeService({ 'GET /datasets': json(page) });
    expect(await svcPkg(['export', 'x', '--api-url', service.url])).toMatchObject({ exitCode: 1, stderr });
  });

  it('leaves nothing of an interrupted export', async () => {
    const service = await fakeService({
      [`GET ${path}`]: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/zip' });
        response.write(archive);
        setTimeout(() => response.destroy(), 20);
      },
    });
    const folder = await temporaryFolder();
    const { exitCode, stderr } = await svcPkg([
      'export',
      DATASET.id,
      '--output',
      folder,
      '--api-url',
      service.url,
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('(connection_lost)');
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps an existing output without --force', async () => {
    const service = await fakeService({ [`GET ${path}`]: zip() });
    const output = join(await temporaryFolder(), 'out.zip');
    await writeFile(output, 'old');
    const argv = ['export', DATASET.id, '--output', output, '--api-url', service.url];
    expect(await svcPkg(argv)).toMatchObject({
      exitCode: 3,
      stderr: `${output}: The file already exists; use --force to replace it (output_exists)\n`,
    });
    expect(await readFile(output, 'utf8')).toBe('old');
    expect(await svcPkg([...argv, '--force'])).toMatchObject({ exitCode: 0 });
    expect(await readFile(output)).toEqual(archive);
  });

  it('reads the database with --database', async () => {
    const folder = await temporaryFolder();
    const wanted: unknown[] = [];
    const database = {
      migrate: () => Promise.reject(new Error('not asked')),
      openExport: async (url: string, { dataset, runId }: { dataset: string; runId: string | undefined }) => {
        wanted.push({ url, dataset, runId });
        async function* body() {
          yield archive;
        }
        return {
          datasetId: 'd1',
          fileName: 'db.pkg.zip',
          byteLength: null,
          body: body(),
          [Symbol.asyncDispose]: async () => void wanted.push('closed'),
        };
      },
    };
    const url = 'postgresql://localhost/svc';
    for (const [argv, env] of [
      [['--database'], { DATABASE_URL: url }],
      [['--database-url', url, '--force'], {}],
    ] as const) {
      const outcome = await svcPkg(['export', 'x', '--run', 'r1', '--output', folder, ...argv], {
        database,
        env,
      });
      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    }
    expect(wanted).toEqual([
      { url, dataset: 'x', runId: 'r1' },
      'closed',
      { url, dataset: 'x', runId: 'r1' },
      'closed',
    ]);
    expect(await readFile(join(folder, 'db.pkg.zip'))).toEqual(archive);
  });
});

it('upload and import-hub say what to do with a dataset that exists', async () => {
  const service = await fakeService({
    'POST /datasets/upload': json(DATASET, 201),
    'POST /datasets/hub/import': json(DATASET, 201),
    'POST /datasets/hub/check': json({ item_count: 1, version_hash: 'ab', errors: [], errors_total: 0 }),
  });
  const file = join(await temporaryFolder(), 'a.csv');
  await writeFile(file, 'q\nwhy?\n');
  const rows = ['--handle', 'h', '--prompt-column', 'q', '--api-url', service.url];
  const hub = ['import-hub', 'a/b', '--name', 'n', ...rows];
  for (const argv of [['upload', file, ...rows], hub, [...hub, '--dry-run']]) {
    expect(await svcPkg([...argv, '--if-exists', 'version'])).toMatchObject({ exitCode: 0 });
    expect(await svcPkg([...argv, '--if-exists', 'never'])).toMatchObject({ exitCode: 2 });
  }
  expect(
    await svcPkg([...hub.slice(0, 4), '--prompt-column', 'q', '--local', '--if-exists', 'reuse']),
  ).toMatchObject({
    exitCode: 2,
  });
  expect(service.requests.map(({ url }) => url)).toEqual(
    ['upload', 'hub/import', 'hub/check'].map((path) => `/datasets/${path}?if_exists=version`),
  );
});

describe('import-hub', () => {
  it('sends every option that was given, and nothing else', async () => {
    const service = await fakeService({ 'POST /datasets/hub/import': json(DATASET, 201) });
    const env = { SVC_API_URL: service.url, HF: 'hf_token' };
    await svcPkg(['import-hub', 'a/b', '--name', 'n', '--prompt-column', 'q'], { env });
    const all = [
      ...[
        '--description',
        'd',
        '--split',
        'train[:5]',
        '--subset',
        's',
        '--revision',
        'v1',
        '--hub-token-env',
        'HF',
      ],
      ...[
        '--answer-column',
        'a',
        '--default-type',
        'exact',
        '--meta-columns',
        'm1',
        'm,2',
        'k=a=b',
        '--criteria-columns',
        'c',
      ],
      ...[
        '--choices-column',
        'ch',
        '--assets-column',
        'as',
        '--system-prompt-column',
        'sp',
        '--id-column',
        'id',
      ],
    ];
    const outcome = await svcPkg(['import-hub', 'a/b', '--name', 'n', '--prompt-column', 'q', ...all], {
      env,
    });
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(outcome.stdout).toContain(`dataset       ${DATASET.id}\n`);
    expect(service.requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([
      { name: 'n', config: { path: 'a/b' }, mapping: { prompt_column: 'q' } },
      {
        name: 'n',
        description: 'd',
        config: { path: 'a/b', split: 'train[:5]', subset: 's', revision: 'v1', token: 'hf_token' },
        mapping: {
          prompt_column: 'q',
          answer_column: 'a',
          default_type: 'exact',
          meta_columns: { m1: 'm1', 'm,2': 'm,2', k: 'a=b' },
          criteria_columns: ['c'],
          choices_column: 'ch',
          assets_column: 'as',
          system_prompt_column: 'sp',
          id_column: 'id',
        },
      },
    ]);
    expect(service.requests[0]!.headers['content-type']).toBe('application/json');
  });

  it.each([
    [
      'finds nothing wrong',
      { item_count: 3, version_hash: 'ab', errors: [], errors_total: 0 },
      0,
      'stored        nothing (dry run)\nitems         3\nerrors        0\nversion hash  ab\n',
    ],
    [
      'finds rows that make no items',
      {
        item_count: 1,
        version_hash: null,
        errors: [{ message: 'Row 2 has no prompt', row: 2, path: '/inputs' }],
        errors_total: 5,
      },
      1,
      'row 2: Row 2 has no prompt at /inputs (invalid_row)\n... and 4 more\nstored  nothing (dry run)\nitems   1\nerrors  5\n',
    ],
  ])('tries an import, which %s', async (_name, answer, exitCode, stdout) => {
    const service = await fakeService({ 'POST /datasets/hub/check': json(answer) });
    const argv = [
      'import-hub',
      'a/b',
      '--name',
      'n',
      '--prompt-column',
      'q',
      '--dry-run',
      '--api-url',
      service.url,
    ];
    expect(await svcPkg(argv)).toMatchObject({ exitCode, stdout, stderr: '' });
    expect(service.requests[0]!.url).toBe('/datasets/hub/check');
    expect((await svcPkg([...argv, '--json'])).document()).toEqual(answer);
  });
});

describe('preview', () => {
  const answer = {
    features: [
      { name: 'question', dtype: 'string' },
      { name: "it's", dtype: 'int64' },
    ],
    samples: [{ question: 'why?', "it's": 1 }],
    num_rows: 7473,
    info: {},
    subset: 'main',
    split: 'train',
    resolved_revision: 'c0ffee',
    splits: [
      { subset: 'main', split: 'train', num_rows: 7473 },
      { subset: 'main', split: 'test', num_rows: null },
    ],
    suggested_mapping: {
      prompt_column: 'question',
      answer_column: null,
      meta_columns: { "it's": "it's", difficulty: 'level' },
    },
  };

  it('shows columns, splits, a mapping to try, and rows with every digit', async () => {
    const text = JSON.stringify(answer).replace('"it\'s":1}', '"it\'s":12345678901234567890}');
    const service = await fakeService({ 'POST /datasets/hub/preview': json(text) });
    const argv = ['preview', 'a/b', '--split', 'train', '--limit', '1', '--api-url', service.url];
    expect((await svcPkg(argv)).stdout).toBe(
      [
        'dataset    a/b',
        'subset     main',
        'split      train',
        'revision   c0ffee',
        'rows       7473',
        'splits     main/train (7473), main/test',
        "suggested  --prompt-column question --meta-columns 'it'\\''s' difficulty=level",
        '',
        'columns',
        '  question  string',
        "  it's      int64",
        '',
        'first rows',
        '  0',
        '    {',
        '      "question": "why?",',
        '      "it\'s": 12345678901234567890',
        '    }',
        '',
      ].join('\n'),
    );
    expect(JSON.parse(service.requests[0]!.body.toString())).toEqual({
      path: 'a/b',
      split: 'train',
      limit: 1,
    });
    expect((await svcPkg([...argv, '--json'])).stdout).toBe(`${text}\n`);
  });

  it('reports what the hub does not have', async () => {
    const service = await fakeService({
      'POST /datasets/hub/preview': problem(
        404,
        'hub_split_not_found',
        'There is no split "x"; there are train, test',
      ),
    });
    expect(await svcPkg(['preview', 'a/b', '--split', 'x', '--api-url', service.url])).toMatchObject({
      exitCode: 1,
      stderr: 'svc-pkg: There is no split "x"; there are train, test (hub_split_not_found)\n',
    });
  });
});

describe('jobs', () => {
  it('are listed page by page', async () => {
    const job = (id: string) => ({
      id,
      kind: 'upload',
      status: 'running',
      progress: { rows_done: 7 },
      created_at: 'now',
    });
    const pages = [
      { data: [job('1')], meta: { next_cursor: 'next', total_items: 3 } },
      { data: [job('2')], meta: { next_cursor: 'last', total_items: 3 } },
    ];
    const service = await fakeService({
      'GET /jobs': (request, response) =>
        json(pages[service.requests.length - 1])(request, response, undefined as never),
    });
    const argv = ['jobs', '--status', 'running', '--limit', '2', '--api-url', service.url];
    expect((await svcPkg(argv)).stdout).toBe(
      'id  kind    status   rows  dataset  created\n1   upload  running  7              now\n2   upload  running  7              now\n',
    );
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/jobs?status=running&limit=2',
      '/jobs?status=running&limit=1&cursor=next',
    ]);
  });
});

describe('a terminal', () => {
  it.each([
    ['upload', [], /sending/],
    ['check', [], /reading/],
    ['hash', [], /reading/],
    ['inspect', [], /reading/],
    ['upload', ['--json'], null],
    ['check', ['--json'], null],
  ] as const)(
    'shows a progress bar for %s %j that is gone before the result comes',
    async (command, argv, label) => {
      const service = await fakeService({ 'POST /datasets/upload': json(DATASET, 201) });
      const path = await writeArchive({ 'sections/a.jsonl': '{}\n' });
      const screen = captured();
      const stderr = Object.assign(screen.stream, { isTTY: true, columns: 80, rows: 24 });
      const context = { stdout: stderr, stderr, isTerminal: true, env: { SVC_API_URL: service.url } };
      expect((await svcPkg([command, path, ...argv], context)).exitCode).toBe(0);
      const shown = screen.bytes().toString();
      if (label === null) {
        expect(shown).not.toContain('\u001b');
        return;
      }
      expect(shown).toMatch(label);
      // The bar ends by clearing its line; it never hides the cursor, which a killed process could not show again.
      const parts = shown.split('\r\u001b[K');
      expect(shown).not.toMatch(/\u001b\[\?\d+l/);
      expect(parts.at(-1)).toMatch(/\n$/);
      expect(parts.at(-1)).not.toContain('\u001b');
    },
  );
});

it('writes into a folder that is there, or ends with a slash', async () => {
  const service = await fakeService({
    [`GET /datasets/${DATASET.id}/export`]: (_request, response) => void response.end('zip'),
  });
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'there'));
  for (const [output, exitCode, written] of [
    ['there', 0, `there/${DATASET.id}.pkg.zip`],
    ['new.zip', 0, 'new.zip'],
    ['nowhere/', 0, `nowhere/${DATASET.id}.pkg.zip`],
    ['new.zip/', 3, null],
    ['absent/x.zip', 3, null],
    ['new.zip/x.zip', 3, null],
  ] as const) {
    const outcome = await svcPkg([
      'export',
      DATASET.id,
      '--output',
      `${folder}/${output}`,
      '--api-url',
      service.url,
    ]);
    expect([output, outcome.exitCode]).toEqual([output, exitCode]);
    if (written !== null) expect(await readFile(join(folder, written), 'utf8')).toBe('zip');
    else
      expect(outcome.stderr).toMatch(
        /Cannot write the file: (?:no such file|part of the path|it already exists).* \(io_error\)/,
      );
  }
});

it('prints a document about a table that it wrote to a file, with --json', async () => {
  const text = '{"id":1}\n{"id":2}\n';
  const send =
    (body: string): Handler =>
    (_request, response) =>
      void response.writeHead(200).end(body);
  const service = await fakeService({
    [`GET /datasets/${DATASET.id}`]: json(DATASET),
    [`GET /datasets/${DATASET.id}/items.jsonl`]: send(text),
    [`GET /runs/${OTHER_ID}/results.csv`]: send('a\n"1\n2"\n'),
    [`GET /runs/${OTHER_ID}/pending`]: send(text),
  });
  const folder = await temporaryFolder();
  for (const [argv, lines, bytes] of [
    [['items', DATASET.id], 2, text.length],
    [['results', OTHER_ID, '--format', 'csv'], null, 8],
    [['pending', OTHER_ID], 2, text.length],
  ] as const) {
    const output = join(folder, argv[0]);
    const write = [...argv, '-o', output, '--api-url', service.url];
    expect((await svcPkg([...write, '--json'])).document()).toEqual({ output, lines, bytes });
    expect((await readFile(output)).byteLength).toBe(bytes);
    expect(await svcPkg([...write, '--force'])).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  }
});

describe('list', () => {
  const page = (data: string): Handler =>
    json(`{"data":[${data}],"meta":{"next_cursor":null,"total_items":1}}`);

  it('keeps every digit', async () => {
    const dataset = '{"id":"1","name":"n","meta":{"extra":[1,2.5,12345678901234567890]}}';
    const service = await fakeService({ 'GET /datasets': page(dataset) });
    const { stdout } = await svcPkg(['list', '--json', '--api-url', service.url]);
    expect(stdout).toBe(`{"data":[${dataset}],"total":1}\n`);
  });

  it.each([
    ['list', '--source'],
    ['runs', '--status'],
    ['jobs', '--status'],
    ['jobs', '--kind'],
  ])('%s refuses an unknown value of %s', async (command, option) => {
    const outcome = await svcPkg([command, option, 'odd']);
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Allowed choices are') });
  });
});

describe('standard output that is a terminal', () => {
  const hostile = '{"output":"\u202eevil \u009b31m \u001b[2J\ttab"}\r\n';
  const results = {
    'GET /runs/1/results.jsonl': (_: SeenRequest, response: ServerResponse) => void response.end(hostile),
  };

  it('gets data with escaped control characters, and a pipe gets it as it is', async () => {
    const service = await fakeService(results);
    const argv = ['results', '1', '--api-url', service.url];
    expect((await svcPkg(argv)).stdout).toBe(hostile);
    expect((await svcPkg(argv, { isOutputTerminal: true })).stdout).toBe(
      '{"output":"\\u202eevil \\u009b31m \\u001b[2J\ttab"}\r\n',
    );
  });

  it.each([
    ['results', '1', '--format', 'parquet'],
    ['export', DATASET.id, '--output', '-'],
  ])('gets no archive and no Parquet file: %s', async (...argv) => {
    const service = await fakeService({});
    const outcome = await svcPkg([...argv, '--api-url', service.url], { isOutputTerminal: true });
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(service.requests).toEqual([]);
  });
});

describe('login', () => {
  const key =
    (role: string): Handler =>
    (request, response, raw) =>
      (request.headers.authorization === 'Bearer sesame'
        ? json({ role, anonymous: false, expires_at: null })
        : problem(401, 'unauthenticated', 'This needs a valid key'))(request, response, raw);

  it('stores a key, which whoami uses and logout deletes', async () => {
    const service = await fakeService({ 'GET /session': key('editor') });
    const env = { XDG_CONFIG_HOME: await temporaryFolder() };
    const login = (typed: string) =>
      svcPkg(['login', '--api-url', service.url], { env, stdin: Readable.from([`${typed}\n`]) });
    const wrong = await login('wrong');
    expect(wrong.stderr).toMatch(/unauthenticated\)\nThe service does not know this key\n$/);
    expect((await login('sesame')).stdout).toMatch(/^role +editor$/m);
    const who = await svcPkg(['whoami', '--json'], { env });
    expect(who.document()).toEqual({ url: service.url, role: 'editor', anonymous: false });
    const path = join(env.XDG_CONFIG_HOME, 'svc-pkg/credentials.json');
    await chmod(path, 0o644);
    expect((await svcPkg(['logout'], { env })).stdout).toMatch(/^key +deleted$/m);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await svcPkg(['whoami', '--api-url', service.url], { env })).toMatchObject({ exitCode: 1 });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ keys: {} });
  });

  it('asks for no key where the service has none', async () => {
    const service = await fakeService({
      'GET /session': json({ role: 'admin', anonymous: true, expires_at: null }),
    });
    const env = { XDG_CONFIG_HOME: await temporaryFolder() };
    const outcome = await svcPkg(['login', '--api-url', service.url], { env });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('asks for no keys') });
    const file = await readFile(join(env.XDG_CONFIG_HOME, 'svc-pkg/credentials.json'), 'utf8');
    expect(JSON.parse(file)).toEqual({ default_url: service.url, keys: {} });
  });
});

it('rename changes notes alone', async () => {
  const path = `/datasets/${DATASET.id}`;
  const service = await fakeService({ [`PATCH ${path}`]: json(DATASET) });
  const argv = ['rename', DATASET.id, '--api-url', service.url];
  expect(await svcPkg([...argv, '--notes', 'n'])).toMatchObject({ exitCode: 0 });
  expect(service.requests[0]?.body.toString()).toBe('{"notes":"n"}');
  expect(await svcPkg(argv)).toMatchObject({ exitCode: 2 });
});

describe('open --python', () => {
  it('prints the three lines that load a version of a dataset', async () => {
    const dataset = { ...DATASET, handle: 'Capitals' };
    const service = await fakeService({
      'GET /datasets/Capitals': json(dataset),
      [`GET /datasets/${DATASET.id}`]: json(dataset),
    });
    const lines = [
      `import os; os.environ["HF_ENDPOINT"] = "${service.url}"`,
      'from datasets import load_dataset',
      `dataset = load_dataset("svc/Capitals", revision="${'ab'.repeat(20)}")`,
    ];
    const given = ['open', 'Capitals@1', '--python', '--api-url', service.url];
    expect(await svcPkg(given)).toMatchObject({ exitCode: 0, stdout: `${lines.join('\n')}\n` });
    expect(JSON.parse((await svcPkg(['--json', ...given])).stdout)).toEqual({ lines });
    expect(await svcPkg(['open', '--python', '--api-url', service.url])).toMatchObject({ exitCode: 2 });
  });
});
