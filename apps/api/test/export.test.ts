import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import JSZip from 'jszip';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

type Dataset = { id: string; version_hash: string };

async function upload(
  archive: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): Promise<Dataset> {
  const response = await fetch(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(archive, fields),
  });
  const body = (await response.json()) as Dataset;
  expect(body).toMatchObject({ version_hash: expect.any(String) });
  return body;
}

async function download(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${api.url}/datasets/${id}/export`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/zip');
  return new Uint8Array(await response.arrayBuffer());
}

const IMAGE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
const files = {
  'sections/b.jsonl':
    '{"id":1,"answer":12345678901234567890}\n{"id":2,"assets":{"f":{"path":"assets/x.png"}}}\n',
  'sections/a b é.jsonl':
    '{"id":3,"assets":["data:image/png;base64,iVBORwABAgM="],"checker":{"path":"checkers/c.py"}}\n',
  'assets/x.png': IMAGE,
  'checkers/c.py': 'print(1)',
  'manifest.json': '{"name":"Round","version_hash":"foreign"}',
  'meta.json': '{"description":"D","notes":"N","more":1.50}',
};

it('gives the same bytes after going round, and the same hash', async () => {
  const first = await upload(await makePackage(files));
  const archive = await download(first.id);
  const second = await upload(archive);
  expect(second.version_hash).toBe(first.version_hash);
  expect(Buffer.from(await download(second.id)).equals(Buffer.from(archive))).toBe(true);
  const zip = await JSZip.loadAsync(archive, { checkCRC32: true });
  const names = Object.keys(zip.files).filter((name) => !name.endsWith('/'));
  expect(names.slice(0, 2)).toEqual(['manifest.json', 'meta.json']);
  const manifest = JSON.parse((await zip.file('manifest.json')?.async('string')) ?? '');
  expect(manifest).toMatchObject({
    format: 'svc-pkg',
    format_version: '2.3',
    name: 'Round',
    version_hash: first.version_hash,
  });
  expect(manifest.sections).toMatchObject([
    { name: 'a b é', order_index: 0, item_count: 1 },
    { name: 'b', order_index: 1, item_count: 2 },
  ]);
  const meta = JSON.parse((await zip.file('meta.json')?.async('string')) ?? '');
  expect(meta).toMatchObject({
    description: 'D',
    notes: 'N',
    schema: { source: 'pkg_zip', package: { manifest: { name: 'Round' }, meta: { more: 1.5 } } },
  });
  expect(names.filter((name) => name.startsWith('assets/'))).toEqual(['assets/x.png']);
});

it('answers HEAD and If-None-Match without a body, and lets go of its connection', async () => {
  const { id } = await upload(await makePackage(files), { name: 'a "b"/ü %' });
  const head = await fetch(`${api.url}/datasets/${id}/export`, { method: 'HEAD' });
  const etag = head.headers.get('etag') ?? '';
  expect(head.headers.get('content-disposition')).toBe(
    `attachment; filename="a _b_u _.pkg.zip"; filename*=UTF-8''a%20_b_%C3%BC%20%25.pkg.zip`,
  );
  for (let round = 0; round < 20; round += 1) {
    const again = await fetch(`${api.url}/datasets/${id}/export`, {
      headers: { 'If-None-Match': `"x", ${etag}` },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
    await fetch(`${api.url}/datasets/${id}/export`, { method: 'HEAD' });
  }
  await fetch(`${api.url}/datasets/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: '{"notes":"other"}',
  });
  const changed = await fetch(`${api.url}/datasets/${id}/export`, { headers: { 'If-None-Match': etag } });
  expect(changed.status).toBe(200);
  await changed.arrayBuffer();
});

it('closes the database cursor when the client disconnects', async () => {
  const lines = Array.from(
    { length: 30_000 },
    (_, index) => `{"id":${index},"inputs":{"prompt":"${'word '.repeat(60)}"}}`,
  );
  const { id } = await upload(await makePackage({ 'sections/s.jsonl': lines.join('\n') }));
  for (let round = 0; round < 10; round += 1) {
    await new Promise<void>((resolve, reject) => {
      const call = request(`${api.url}/datasets/${id}/items.jsonl`, (response) => {
        response.once('data', () => {
          response.destroy();
          resolve();
        });
      });
      call.on('error', reject).end();
    });
  }
  // every connection is free again: more exports than the pool has connections succeed one after the other
  expect((await download(id)).byteLength).toBeGreaterThan(1000);
  await expect
    .poll(() =>
      api
        .log()
        .filter((line) => line['route'] === '/datasets/:id/items.jsonl')
        .map((line) => line['status_code']),
    )
    .toEqual(Array.from({ length: 10 }, () => 499));
});

it('compares two datasets by their items', async () => {
  const one = await upload(await makePackage({ 'sections/s.jsonl': '{"id":1}\n{"id":2}\n{"id":3}' }));
  const two = await upload(await makePackage({ 'sections/s.jsonl': '{"id":2}\n{"id":3}\n{"id":4}' }));
  const diff = (await (await fetch(`${api.url}/datasets/${one.id}/diff/${two.id}`)).json()) as {
    counts: object;
    data: { change: string }[];
  };
  expect(diff.counts).toEqual({ added: 1, removed: 1, changed: 0, unchanged: 2 });
  expect(diff.data.map(({ change }) => change).sort()).toEqual(['added', 'removed']);
});

it('tells which members of an item have changed, with every digit', async () => {
  const before = '{"id":"q","inputs":{"prompt":"2+2?"},"meta":{"a/b":1,"n":12345678901234567890}}';
  const after = '{"answer":"4","id":"q","inputs":{"prompt":"2+2?"},"meta":{"n":12345678901234567891}}';
  const one = await upload(await makePackage({ 'sections/s.jsonl': before }));
  const two = await upload(await makePackage({ 'sections/s.jsonl': `{"id":"z"}\n${after}` }));
  const url = `${api.url}/datasets/${one.id}/diff/${two.id}?version=1&other_version=${two.version_hash.slice(0, 8)}`;
  const text = await (await fetch(`${url}&only=changed`)).text();
  expect(text).toContain(
    '{"change":"changed","section":"s","order_index":0,"other_order_index":1,"item_id":"q","fields":[' +
      '{"pointer":"/meta/a~1b","from":1},{"pointer":"/meta/n","from":12345678901234567890,"to":12345678901234567891},' +
      '{"pointer":"/answer","to":"4"}]}',
  );
  expect(JSON.parse(text).counts).toEqual({ added: 1, removed: 0, changed: 1, unchanged: 0 });
  const codes = ['version=2', 'other_version=deadbeef', 'only=other'].map(
    async (query) =>
      (
        (await (await fetch(`${api.url}/datasets/${one.id}/diff/${two.id}?${query}`)).json()) as {
          code: string;
        }
      ).code,
  );
  expect(await Promise.all(codes)).toEqual(['version_not_found', 'version_not_found', 'invalid_request']);
});

it('says so when the run or dataset is not there', async () => {
  const { id } = await upload(await makePackage({ 'sections/s.jsonl': '{}' }));
  const uuid = '00000000-0000-4000-8000-000000000000';
  const codes = await Promise.all(
    [`/datasets/${uuid}/export`, `/datasets/${id}/export?run_id=${uuid}`, `/datasets/${id}/diff/${uuid}`].map(
      async (path) => ((await (await fetch(api.url + path)).json()) as { code: string }).code,
    ),
  );
  expect(codes).toEqual(['dataset_not_found', 'run_not_found', 'dataset_not_found']);
});

it('logs an export that fails because the database connection is lost', async () => {
  const lines = Array.from({ length: 200_000 }, (_, index) =>
    JSON.stringify({ id: index, answer: randomUUID() }),
  );
  const { id } = await upload(await makePackage({ 'sections/a.jsonl': lines.join('\n') }));
  const response = await fetch(`${api.url}/datasets/${id}/export`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect((await reader.read()).done).toBe(false);
  await queryDatabase(
    api.databaseUrl,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'svc-store' AND pid <> pg_backend_pid()`,
  );
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toThrow();
  const told = (): Record<string, unknown>[] =>
    api
      .log()
      .filter(({ event, dataset_id }) => dataset_id === id && String(event).startsWith('dataset.export'));
  await expect.poll(told).toMatchObject([{ event: 'dataset.export.fail', error: { code: 'unavailable' } }]);
  await expect
    .poll(() => api.log().find(({ event }) => event === 'error.unavailable'))
    .toMatchObject({ route: '/datasets/:id/export' });
});
