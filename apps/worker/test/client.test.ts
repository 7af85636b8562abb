import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ApiError,
  createApiClient,
  followJob,
  followRun,
  iterateItems,
  iterateResults,
  unwrap,
  uploadFile,
} from '../../../packages/client/src/index.ts';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { startTestService, type TestService } from './start-test-service.ts';

const KEY = 'a-key-of-an-editor';

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
  expect(read.map(({ order_index }) => order_index)).toEqual(items.map((_, index) => index));
  const body = {
    dataset_id: datasetId,
    config: { provider: { type: 'echo' as const }, allow_unscored: true },
  };
  const run = unwrap(await client.POST('/runs', { body: body as never })) as { readonly id: string };
  const last = (await Array.fromAsync(followRun(client, run.id, { intervalMs: 20 }))).at(-1);
  expect(last).toMatchObject({ status: 'completed', counts: { done: 120 } });
  expect(await Array.fromAsync(iterateResults(client, run.id))).toHaveLength(120);

  const stop = new AbortController();
  const following = followRun(client, run.id, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(following.next()).rejects.toThrow();
  const missing = Array.fromAsync(iterateItems(client, '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d'));
  await expect(missing).rejects.toBeInstanceOf(ApiError);
  await expect(missing).rejects.toMatchObject({ code: 'dataset_not_found', status: 404 });
});

it('does what its README says', async () => {
  const folder = new URL('../../../packages/client/', import.meta.url);
  const page = await readFile(new URL('README.md', folder), 'utf8');
  const [, program = '', output = ''] =
    /^```typescript\n([\s\S]*?)^```\n\nprints\n\n^```\n([\s\S]*?)^```$/m.exec(page) ?? [];
  // The package finds itself by its name from its own folder.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', stripTypeScriptTypes(program)],
    { cwd: fileURLToPath(folder), env: { SVC_API_URL: service.url, SVC_API_KEY: KEY } },
  );
  expect(stdout).toBe(output);
});

it('sends several files as one dataset, with their length, and gives every digit of the response', async () => {
  const file = (name: string, text: string) => ({
    name,
    byteLength: Buffer.byteLength(text),
    read: () => new Blob([text]).stream(),
  });
  const options = { baseUrl: service.url, key: KEY, inBackground: false };
  const sources = [file('a.jsonl', '{"id":12345678901234567890}\n'), file('b.jsonl', '{"id":2}\n{"id":3}\n')];
  const stored = await uploadFile(sources, { ...options, fields: { name: 'Two' } });
  expect(stored.dataset).toMatchObject({ name: 'Two', section_count: 2, item_count: 3 });
  expect(JSON.parse(stored.text)).toEqual(stored.dataset);
  const short = { ...file('a.jsonl', '{"id":1}\n'), byteLength: 10 };
  await expect(uploadFile(short, options)).rejects.toThrow();
  const page = async () => new Response('<h1>', { status: 502 });
  await expect(uploadFile(sources, { ...options, fetch: page })).rejects.toMatchObject({
    code: 'bad_response',
    status: 502,
  });
});
