import { execFile } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { canonicalJson, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ApiError,
  createApiClient,
  followJob,
  followRun,
  importHub,
  iterateItems,
  iteratePages,
  iterateResults,
  planRun,
  startRun,
  uploadDataset,
  uploadFile,
  waitForJob,
} from '../../../packages/client/src/index.ts';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { EXAMPLES_OF_SERVICE } from '../../../tools/packages/example-checks.ts';
import { readmeExamples } from '../../../tools/packages/readme-examples.ts';
import { startTestService, type TestService } from './start-test-service.ts';

const KEY = 'a-key-of-an-editor';
const PACKAGE = new URL('../../../packages/client', import.meta.url);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { SVC_API_KEYS: `admin:${KEY}` } });
});
afterAll(() => service[Symbol.asyncDispose]());

it('uploads with progress, follows jobs and runs, and iterates over pages', async () => {
  const options = { baseUrl: service.url, key: KEY };
  const client = createApiClient(options);
  const items = Array.from(
    { length: 120 },
    (_, index) => `{"id":${index},"inputs":{"prompt":"p${index}"}}\n`,
  );
  const bytes = buildZip({ entries: [{ name: 'sections/train.jsonl', content: items.join('') }] });
  const progress: [number, number][] = [];
  const source = {
    name: 'a "b".pkg.zip',
    byteLength: bytes.byteLength,
    async *read() {
      yield bytes.subarray(0, 100);
      yield bytes.subarray(100);
    },
  };
  const upload = () =>
    uploadFile(source, {
      ...options,
      fields: { name: 'Client' },
      idempotencyKey: 'the-same-key',
      onProgress: (sent, total) => progress.push([sent, total]),
    });
  const { job } = await upload();
  expect(progress).toEqual([
    [100, bytes.byteLength],
    [bytes.byteLength, bytes.byteLength],
  ]);
  const ended = (await Array.fromAsync(followJob(client, job?.id ?? '', { intervalMs: 20 }))).at(-1);
  expect(ended).toMatchObject({ status: 'succeeded' });
  const datasetId = String(ended?.dataset_id);
  expect((await upload()).job?.id).toBe(job?.id);

  const read = await Array.fromAsync(iterateItems(client, datasetId));
  expect(read.map(({ id }) => id)).toEqual(items.map((_, index) => index));
  const request = {
    dataset_id: datasetId,
    config: { provider: { type: 'echo' }, allow_unscored: true },
  } as const;
  expect(await planRun(client, request)).toMatchObject({ plan: { items: 120 } });
  const run = await startRun(client, request, { idempotencyKey: 'one-run' });
  expect((await startRun(client, request, { idempotencyKey: 'one-run' })).id).toBe(run.id);
  const last = (await Array.fromAsync(followRun(client, run.id, { intervalMs: 20 }))).at(-1);
  expect(last).toMatchObject({ status: 'completed', counts: { done: 120 } });
  expect(await Array.fromAsync(iterateResults(client, run.id))).toHaveLength(120);
  const pages = iteratePages(
    (query) => client.GET('/runs/{id}/results', { params: { path: { id: run.id }, query } }),
    110,
  );
  expect((await Array.fromAsync(pages)).map(({ data }) => data.length)).toEqual([100, 10]);

  const stop = new AbortController();
  const following = followRun(client, run.id, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(following.next()).rejects.toThrow();
  const missing = Array.fromAsync(iterateItems(client, '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d'));
  await expect(missing).rejects.toBeInstanceOf(ApiError);
  await expect(missing).rejects.toMatchObject({ code: 'dataset_not_found', status: 404 });
});

const file = (name: string, text: string) => ({
  name,
  byteLength: Buffer.byteLength(text),
  read: () => new Blob([text]).stream(),
});

it.each(readmeExamples(fileURLToPath(PACKAGE)))(
  'the README program $name prints what it says',
  async (program) => {
    // The package finds itself by its name from its own folder.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', stripTypeScriptTypes(program.code)],
      { cwd: fileURLToPath(PACKAGE), env: { SVC_API_URL: service.url, SVC_API_KEY: KEY } },
    );
    expect(stdout).toBe(program.output);
  },
);

it.each(EXAMPLES_OF_SERVICE)('examples/%s.mjs runs', async (name) => {
  const { stdout } = await promisify(execFile)(process.execPath, [`${name}.mjs`], {
    cwd: fileURLToPath(new URL('../../../examples', import.meta.url)),
    env: { SVC_API_URL: service.url, SVC_API_KEY: KEY },
  });
  expect(stdout).toBe('3 done, mean 0\n');
});

it('sends several files as one dataset, with their length, and gives every digit of the response', async () => {
  const options = { baseUrl: service.url, key: KEY, inBackground: false };
  const sources = [
    file('a.jsonl', '{"id":12345678901234567890,"inputs":{}}\n'),
    file('b.jsonl', '{"id":2,"inputs":{}}\n{"id":3,"inputs":{}}\n'),
  ];
  const stored = await uploadFile(sources, { ...options, fields: { name: 'Two' } });
  expect(stored.dataset).toMatchObject({ name: 'Two', section_count: 2, item_count: 3 });
  expect(parseJson(stored.text)).toEqual(stored.dataset);
  const items = await Array.fromAsync(iterateItems(createApiClient(options), stored.dataset?.id ?? ''));
  expect(items.map((item) => canonicalJson(item['id'] as JsonValue))).toEqual([
    '12345678901234567890',
    '2',
    '3',
  ]);
  const [first, second] = [
    new File(['{"id":1,"inputs":{}}\n'], 'a.jsonl'),
    new Blob(['{"id":2,"inputs":{}}\n']),
  ];
  const progress: number[] = [];
  const onProgress = (sent: number): unknown => progress.push(sent);
  const blobs = await uploadDataset([first, second], { ...options, fields: { name: 'Files' }, onProgress });
  expect(blobs).toMatchObject({ name: 'Files', section_count: 2, item_count: 2 });
  expect(progress).toEqual([first.size + second.size]);
});

it('throws what a source throws, and a RangeError for another length than it says', async () => {
  const options = { baseUrl: service.url, key: KEY, inBackground: false };
  const right = file('a.jsonl', '{"id":1}\n');
  for (const byteLength of [8, 10])
    await expect(uploadFile({ ...right, byteLength }, options)).rejects.toThrow(RangeError);
  const broken = new Error('disk');
  const read = async function* () {
    yield new Uint8Array(4);
    throw broken;
  };
  await expect(uploadFile({ ...right, read }, options)).rejects.toBe(broken);
  await expect(uploadFile(right, { ...options, baseUrl: 'http://127.0.0.1:9' })).rejects.toThrow(
    'fetch failed',
  );
  const reason = new Error('enough');
  const aborted = { ...options, signal: AbortSignal.abort(reason) };
  await expect(uploadFile(right, aborted)).rejects.toBe(reason);
  // A rejection that nobody handles would fail the tests.
  await expect(uploadFile(new File(['{"id":1}\n'], 'a.jsonl'), aborted)).rejects.toBe(reason);
});

it('closes the source of an upload that ends early', async () => {
  const options = { baseUrl: service.url, key: KEY };
  const endings: [name: string, given: object, error: object][] = [
    ['aborted', { signal: AbortSignal.timeout(100) }, { name: 'TimeoutError' }],
    ['refused', { key: 'not-a-key-of-this-service' }, { status: 401 }],
  ];
  for (const [name, given, error] of endings) {
    const closed = Promise.withResolvers<string>();
    async function* read() {
      try {
        for (;;) {
          yield new Uint8Array(1024);
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      } finally {
        closed.resolve(name);
      }
    }
    const source = { name: 'a.jsonl', byteLength: 1e9, read };
    await expect(uploadFile(source, { ...options, ...given }), name).rejects.toMatchObject(error);
    expect(await closed.promise).toBe(name);
  }
});

it('sends web streams that cannot be iterated, as in some browsers', async () => {
  const options = { baseUrl: service.url, key: KEY };
  const source = file('a.jsonl', '{"id":1,"inputs":{}}\n{"id":2,"inputs":{}}\n');
  const read = () => {
    const stream = source.read();
    return { getReader: () => stream.getReader() };
  };
  const { id, item_count } = await uploadDataset({ ...source, read }, options);
  expect(item_count).toBe(2);
  const ids = [];
  for await (const item of iterateItems(createApiClient(options), id)) ids.push(item['id']);
  expect(ids).toEqual([1, 2]);
});

it('waits for the dataset of an upload, or throws the error of its job', async () => {
  const options = { baseUrl: service.url, key: KEY };
  const client = createApiClient(options);
  const seen: string[] = [];
  const stored = await waitForJob(
    client,
    await uploadFile(file('a.jsonl', '{"id":1,"inputs":{}}\n'), options),
    {
      onChange: ({ status }) => seen.push(status),
      intervalMs: 20,
    },
  );
  expect(stored).toMatchObject({ name: 'a', item_count: 1 });
  expect(seen.at(-1)).toBe('succeeded');
  const now = await uploadFile(file('b.jsonl', '{"id":1,"inputs":{}}\n'), {
    ...options,
    inBackground: false,
  });
  expect(await waitForJob(client, now)).toBe(now.dataset);

  const faulty = uploadDataset(file('bad.jsonl', '{"id":1}\n{"id":{}}\n'), options);
  await expect(faulty).rejects.toMatchObject({ name: 'ApiError', status: 400 });
  const hub = { name: 'Hub', config: { path: 'owner/name' }, mapping: { prompt_column: 'question' } };
  expect(await importHub(client, hub)).toMatchObject({ name: 'Hub', item_count: 10 });
  const lost = importHub(client, { ...hub, mapping: { prompt_column: 'q' } });
  await expect(lost).rejects.toMatchObject({ code: 'column_not_found', status: 400 });
});

it('refuses ids that name another path', () => {
  const client = createApiClient({ baseUrl: service.url, key: KEY });
  for (const id of ['', '.', '..']) {
    expect(() => followJob(client, id)).toThrow(new TypeError(`id must be an id, got "${id}".`));
    expect(() => followRun(client, id)).toThrow(TypeError);
    expect(() => iterateItems(client, id)).toThrow('datasetId must be an id');
    expect(() => iterateResults(client, id)).toThrow('runId must be an id');
  }
});

it.each([
  { what: 'the error page', body: '<h1>', type: 'text/html', status: 502 },
  { what: 'a page', body: '<h1>', type: 'text/html', status: 200 },
  { what: 'the JSON', body: '{"data":7}', type: 'application/json', status: 200 },
])('refuses $what of another server', async ({ body, type, status }) => {
  const fetch = async () => new Response(body, { status, headers: { 'content-type': type } });
  const options = { baseUrl: service.url, fetch };
  const client = createApiClient(options);
  const bad = { name: 'ApiError', code: 'bad_response', status };
  const config = { provider: { type: 'echo' } } as const;
  await expect(uploadFile(new Blob(['{}\n']), options)).rejects.toMatchObject(bad);
  await expect(uploadFile(file('a.jsonl', '{}\n'), options)).rejects.toMatchObject(bad);
  await expect(followJob(client, 'x').next()).rejects.toMatchObject(bad);
  await expect(followRun(client, 'x').next()).rejects.toMatchObject(bad);
  await expect(iterateItems(client, 'x').next()).rejects.toMatchObject(bad);
  await expect(iterateResults(client, 'x').next()).rejects.toMatchObject(bad);
  await expect(startRun(client, { dataset_id: 'x', config })).rejects.toMatchObject(bad);
});
