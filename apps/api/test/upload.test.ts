import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

type RequestBody = NonNullable<RequestInit['body']>;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SVC_MAX_UPLOAD_BYTES: '200000',
    SVC_MAX_LINE_BYTES: '100000',
    SVC_MAX_FORM_FIELDS: '4',
  });
});
afterAll(() => api[Symbol.asyncDispose]());

const post = (body: RequestBody, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${api.url}/datasets/upload`, { method: 'POST', body, headers });

const datasetCount = async (): Promise<number> =>
  ((await (await fetch(`${api.url}/datasets?limit=1`)).json()) as { meta: { total_items: number } }).meta
    .total_items;

const sha256 = (...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

describe('POST /datasets/upload', () => {
  it.each([' ', 'a\u0007b', 'n'.repeat(256), 7, null])('refuses the name %j of a manifest', async (name) => {
    const archive = await makePackage({
      'sections/a.jsonl': '{}\n',
      'manifest.json': JSON.stringify({ format: 'svc-pkg', name }),
    });
    const response = await post(uploadForm(archive));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'package_invalid_json',
      errors: [{ file: 'manifest.json', path: '/name' }],
    });
  });

  it('stores a package and gives every item back, digit by digit', async () => {
    const lines = [
      '{"answer":9007199254740993,"id":"q1","inputs":{"prompt":"one"}}',
      '{"__proto__":{"a":1},"id":"q2","inputs":{"prompt":"\\u0000 \\ud800 é 😀"},"meta":{"n":0.12345678901234567890123}}',
    ];
    const archive = await makePackage({
      'sections/b.jsonl': `${lines[0]}\n`,
      'sections/a.jsonl': `\ufeff\r\n${lines[1]}\r\n`,
      'manifest.json': '{"name": "From the manifest", "version_hash": "another"}',
      'meta.json': '{"description": "D", "notes": "N"}',
    });
    const response = await post(uploadForm(archive));
    expect(response.status).toBe(201);
    const dataset = (await response.json()) as Record<string, unknown>;
    expect(response.headers.get('location')).toBe(`/datasets/${dataset['id']}`);
    const sectionHashes = [
      ['a', lines[1] as string],
      ['b', lines[0] as string],
    ].map(([name, line]) => sha256(`svc-section-1\n${name}\n`, sha256(line as string)));
    expect(dataset).toMatchObject({
      name: 'From the manifest',
      description: 'D',
      notes: 'N',
      version_hash: sha256('svc-dataset-1\n', ...sectionHashes).toString('hex'),
      section_count: 2,
      item_count: 2,
      asset_count: 0,
      schema: {
        source: 'pkg_zip',
        package: { manifest: { name: 'From the manifest' }, meta: { description: 'D', notes: 'N' } },
      },
    });
    expect(dataset['sections']).toMatchObject([
      { name: 'a', order_index: 0, item_count: 1 },
      { name: 'b', order_index: 1, item_count: 1 },
    ]);
    expect(dataset['created_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

    const stored = await fetch(`${api.url}/datasets/${dataset['id']}/items.jsonl`);
    expect(stored.headers.get('content-type')).toBe('application/jsonl');
    expect(await stored.text()).toBe(`${lines[1]}\n${lines[0]}\n`);
    const items = await (await fetch(`${api.url}/datasets/${dataset['id']}/items?section=b`)).text();
    expect(items).toContain('"answer":9007199254740993');
    expect(items).toContain(sha256(lines[0] as string).toString('hex'));
  });

  it('puts files back into the items that name them', async () => {
    const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
    const archive = await makePackage({
      'sections/s.jsonl':
        '{"id":1,"assets":{"fig":"assets/a/fig.png"},"checker":{"path":"checkers/c.py","type":"x"}}\n{"id":2}',
      'assets/a/fig.png': image,
      'checkers/c.py': 'print(1)',
    });
    const response = await post(uploadForm(archive, { name: 'Files' }));
    const dataset = (await response.json()) as Record<string, string>;
    expect(dataset).toMatchObject({ name: 'Files', item_count: 2, asset_count: 1 });
    const page = (await (await fetch(`${api.url}/datasets/${dataset['id']}/items`)).json()) as {
      data: { item: unknown }[];
    };
    expect(page.data.map(({ item }) => item)).toEqual([
      {
        id: 1,
        assets: {
          fig: { path: 'assets/a/fig.png', mime_type: 'image/png', encoding: 'base64', data: 'iVBORw==' },
        },
        checker: { type: 'x', path: 'checkers/c.py', encoding: 'base64', data: 'cHJpbnQoMSk=' },
      },
      { id: 2 },
    ]);
  });

  it('takes the name from the file when nothing else has one, whatever the order of the parts', async () => {
    const archive = await makePackage({ 'sections/s.jsonl': '{}' });
    const form = new FormData();
    form.append('description', 'first');
    form.append('file', new Blob([archive]), 'a folder/Größe.pkg.zip');
    const response = await post(form);
    expect(await response.json()).toMatchObject({ name: 'Größe', description: 'first' });
  });

  it('reports malformed JSON on line 7 of sections/b.jsonl as exactly that', async () => {
    const before = await datasetCount();
    const archive = await makePackage({
      'sections/a.jsonl': '{}\n',
      'sections/b.jsonl': '{}\n{}\n\n{}\n{}\n{}\n{"a": tru}\n{}\n',
    });
    const response = await post(uploadForm(archive));
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/json');
    const body = (await response.json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      code: 'package_invalid_line',
      status: 400,
      instance: '/datasets/upload',
      errors_total: 1,
    });
    expect(body['errors']).toMatchObject([{ file: 'sections/b.jsonl', line: 7, column: 7 }]);
    expect(body['request_id']).toBe(response.headers.get('x-request-id'));
    expect(await datasetCount()).toBe(before);
  });

  it('reports every faulty line of every section, the first 100 of them', async () => {
    const before = await datasetCount();
    const few = await post(
      uploadForm(
        await makePackage({
          'sections/a.jsonl': '{}\n{"a": tru}\n\n{"inputs":{"prompt":5}}\n{}\n',
          'sections/b.jsonl': '{"assets":{"x":"assets/x"}}\n{"a":1,"a":2}\n',
          'assets/x': 'x',
        }),
      ),
    );
    expect(few.status).toBe(400);
    const body = (await few.json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      code: 'package_invalid_line',
      errors_total: 3,
      errors: [
        { code: 'package_invalid_line', file: 'sections/a.jsonl', line: 2, column: 7 },
        { code: 'package_invalid_line', file: 'sections/a.jsonl', line: 4 },
        { file: 'sections/b.jsonl', line: 2 },
      ],
    });
    expect(body['detail']).toBe((body['errors'] as { message: string }[])[0]?.message);
    const many = await post(
      uploadForm(await makePackage({ 'sections/a.jsonl': '{}\n'.repeat(9000) + 'x\n'.repeat(5000) })),
    );
    const { errors, errors_total } = (await many.json()) as { errors: object[]; errors_total: number };
    expect([errors.length, errors_total]).toEqual([100, 5000]);
    expect(errors[99]).toMatchObject({ line: 9100 });
    expect(await datasetCount()).toBe(before);
  });

  const zip = (files: Record<string, string>) => () => makePackage(files);
  it.each<[string, () => Promise<Uint8Array<ArrayBuffer>>, number, string, object?]>([
    ['no zip', async () => Uint8Array.of(0, 1, 2, 3), 400, 'unsupported_file', { file: 'sample.pkg.zip' }],
    ['a text', async () => new TextEncoder().encode('hello, world'), 400, 'mapping_required'],
    ['an empty file', async () => new Uint8Array(0), 400, 'unsupported_file', { file: 'sample.pkg.zip' }],
    ['no sections', zip({ 'manifest.json': '{}' }), 400, 'package_no_sections'],
    ['an older archive', zip({ 'data/a.jsonl': '{"prompt":"p"}' }), 400, 'package_no_sections'],
    [
      'a manifest that is not JSON',
      zip({ 'sections/a.jsonl': '{}', 'manifest.json': '{' }),
      400,
      'package_invalid_json',
      { file: 'manifest.json' },
    ],
    [
      'a meta that is not an object',
      zip({ 'sections/a.jsonl': '{}', 'meta.json': '[]' }),
      400,
      'package_invalid_json',
      { file: 'meta.json' },
    ],
    [
      'a line that is not an object',
      zip({ 'sections/a.jsonl': '{}\n[1]' }),
      400,
      'package_invalid_line',
      { file: 'sections/a.jsonl', line: 2 },
    ],
    [
      'a repeated key',
      zip({ 'sections/a.jsonl': '{"a":1,"a":2}' }),
      400,
      'package_invalid_line',
      { line: 1 },
    ],
    [
      'a prompt that is not a string',
      zip({ 'sections/a.jsonl': '{"inputs":{"prompt":1}}' }),
      400,
      'package_invalid_line',
      { line: 1, path: '/inputs/prompt' },
    ],
    [
      'deep nesting',
      zip({ 'sections/a.jsonl': `{"a":${'['.repeat(100_000 / 4)}` }),
      400,
      'package_invalid_line',
      { line: 1 },
    ],
    [
      'a line that is too long',
      zip({ 'sections/a.jsonl': `{"a":"${'x'.repeat(150_000)}"}` }),
      400,
      'package_limit',
      { line: 1 },
    ],
    [
      'a missing asset',
      zip({ 'sections/a.jsonl': '{}\n{"assets":["assets/no.png"]}' }),
      400,
      'package_missing_file',
      { line: 2, path: '/assets/0' },
    ],
    [
      'an asset outside its folder',
      zip({ 'sections/a.jsonl': '{"assets":["assets/../x"]}' }),
      400,
      'package_invalid_line',
      { line: 1 },
    ],
    [
      'a wrong hash',
      zip({
        'sections/a.jsonl': '{}',
        'manifest.json': `{"hash_spec":"svc-jcs-sha256-1","version_hash":"${'0'.repeat(64)}"}`,
      }),
      400,
      'package_hash_mismatch',
    ],
    [
      'jsonl deeper under sections',
      zip({ 'sections/a.jsonl': '{}', 'sections/x/b.jsonl': '{}' }),
      400,
      'package_unsupported',
    ],
  ])('refuses %s and stores nothing', async (_name, archive, status, code, location) => {
    const before = await datasetCount();
    const response = await post(uploadForm(await archive()));
    const body = (await response.json()) as { code: string; errors?: object[] };
    expect([response.status, body.code]).toEqual([status, code]);
    if (location !== undefined) expect(body.errors?.[0]).toMatchObject(location);
    expect(await datasetCount()).toBe(before);
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it.each<[string, () => FormData | Promise<FormData>, number, string, string?]>([
    [
      'without a file',
      () => {
        const form = new FormData();
        form.append('name', 'x');
        return form;
      },
      400,
      'invalid_request',
      'file',
    ],
    [
      'with a blank name',
      async () => uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }), { name: '  ' }),
      400,
      'invalid_request',
      'name',
    ],
    [
      'with an unknown field',
      async () => uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }), { nmae: 'x' }),
      400,
      'invalid_request',
      'nmae',
    ],
    [
      'with a field twice',
      async () => {
        const form = uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }), { name: 'a' });
        form.append('name', 'b');
        return form;
      },
      400,
      'invalid_request',
      'name',
    ],
    [
      'with a package and another file',
      async () => {
        const form = uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }));
        form.append('file', new Blob(['x']), 'b.zip');
        return form;
      },
      400,
      'unsupported_file',
    ],
    [
      'with a field that is too long',
      async () =>
        uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }), { description: 'x'.repeat(70_000) }),
      400,
      'invalid_request',
      'description',
    ],
    [
      'with a description that cannot be stored',
      async () => uploadForm(await makePackage({ 'sections/a.jsonl': '{}' }), { description: 'a\0b' }),
      400,
      'invalid_request',
      'description',
    ],
    [
      'with its file under another name',
      () => {
        const form = new FormData();
        form.append('upload', new Blob([new Uint8Array(100_000)]), 'a.zip');
        return form;
      },
      400,
      'invalid_request',
      'upload',
    ],
    ['that is too large', () => uploadForm(new Uint8Array(300_000)), 413, 'upload_too_large'],
  ])('refuses a form %s', async (_name, form, status, code, path) => {
    const response = await post(await form());
    const body = (await response.json()) as { code: string; errors?: { path?: string }[] };
    expect([response.status, body.code]).toEqual([status, code]);
    if (path !== undefined) expect(body.errors?.[0]?.path).toBe(path);
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it('says that a text is not a file', async () => {
    const form = new FormData();
    form.append('file', 'question,answer');
    const refused = await post(form);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('got a text') });
  });

  it('counts what streams in, not what the client declares', async () => {
    const chunk = new Uint8Array(50_000);
    const boundary = 'b0undary';
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`,
      );
      for (let index = 0; index < 20; index += 1) yield chunk;
      yield Buffer.from(`\r\n--${boundary}--\r\n`);
    }
    const response = await fetch(`${api.url}/datasets/upload`, {
      method: 'POST',
      body: ReadableStream.from(body()),
      duplex: 'half',
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    } as RequestInit);
    expect(response.status).toBe(413);
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it.each([
    ['application/json', '{}', 415, 'unsupported_media_type'],
    ['multipart/form-data', 'x', 400, 'invalid_request'],
    ['multipart/form-data; boundary=x', 'no form at all', 400, 'invalid_request'],
  ])('refuses %s with %j', async (type, body, status, code) => {
    const response = await post(body, { 'Content-Type': type });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
  });

  it('answers a form whose file begins after a part that cannot be read', async () => {
    const form =
      '--b\r\nCon\xc3me\r\n\r\nx\r\n--b\r\n' +
      'Content-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nPK';
    const response = await post(Buffer.from(form, 'latin1'), {
      'Content-Type': 'multipart/form-data; boundary=b',
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      400,
      'invalid_request',
    ]);
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it('refuses a field whose charset is not known', async () => {
    const form =
      '--b\r\nContent-Disposition: form-data; name="name"\r\nContent-Type: text/plain; charset=none\r\n\r\nx\r\n--b--\r\n';
    const response = await post(form, { 'Content-Type': 'multipart/form-data; boundary=b' });
    expect(await response.json()).toMatchObject({ status: 400, errors: [{ path: 'name' }] });
  });

  it('deletes the staged file when the client disconnects half-way, and logs 499', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      'POST /datasets/upload HTTP/1.1\r\nHost: x\r\nX-Request-ID: leaver\r\nContent-Length: 150000\r\n' +
        'Content-Type: multipart/form-data; boundary=b\r\n\r\n' +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n${'x'.repeat(100_000)}`,
    );
    await expect.poll(() => api.stagedFiles()).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => api.stagedFiles()).toEqual([]);
    await expect
      .poll(() =>
        api.log().find((line) => line['request_id'] === 'leaver' && line['event'] === 'http.request'),
      )
      .toMatchObject({ status_code: 499, route: '/datasets/upload' });
  });
});
