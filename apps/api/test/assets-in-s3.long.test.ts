import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { S3_CREDENTIALS, startS3, type TestS3 } from '../../../packages/service/test/store/start-s3.ts';
import { startTcpProxy, type TcpProxy } from '../../../packages/service/test/store/tcp-proxy.ts';
import { uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let s3: TestS3;
/** The line between the service and S3. */
let line: TcpProxy;
let api: TestApi;
beforeAll(async () => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
  s3 = await startS3();
  line = await startTcpProxy(s3.url.replace('http:', 'postgresql:'));
  api = await startTestApi({
    SVC_ASSET_STORE_URL: `s3://assets/files?endpoint=http://127.0.0.1:${line.port}`,
  });
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await line[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;
const images = [randomBytes(300_000), randomBytes(50), randomBytes(2_000)];
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function upload(files: readonly Uint8Array[]): Promise<{ status: number; body: Body }> {
  const entries = files.map((content, index) => ({ name: `assets/${index}.png`, content }));
  const lines = entries.map(({ name }) => JSON.stringify({ assets: [name, name] })).join('\n');
  const archive = buildZip({ entries: [{ name: 'sections/default.jsonl', content: lines }, ...entries] });
  const form = uploadForm(archive as Uint8Array<ArrayBuffer>);
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body: form });
  return { status: response.status, body: await response.json() };
}

const get = async (path: string): Promise<{ status: number; body: Body }> => {
  const response = await fetch(api.url + path);
  return { status: response.status, body: await response.json() };
};

it('keeps assets as objects, which items, links and exports read', async () => {
  const { status, body } = await upload(images);
  expect(status).toBe(201);
  expect(await s3.objects()).toHaveLength(3);
  const items = (await get(`/datasets/${body.id}/items`)).body.data;
  expect(items.map(({ item }: Body) => item.assets.map(({ data }: Body) => data))).toEqual(
    images.map((image) => [image.toString('base64'), image.toString('base64')]),
  );
  const url = `${api.url}/datasets/${body.id}/assets/${hashOf(images[0] as Buffer)}`;
  const range = await fetch(url, { headers: { Range: 'bytes=100000-200000' } });
  expect(range.status).toBe(206);
  expect(Buffer.from(await range.arrayBuffer()).equals(images[0]?.subarray(100_000, 200_001) as Buffer)).toBe(
    true,
  );
  const exported = await fetch(`${api.url}/datasets/${body.id}/export`);
  const again = await fetch(`${api.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(new Uint8Array(await exported.arrayBuffer())),
  });
  expect(((await again.json()) as Body).version_hash).toBe(body.version_hash);
  expect(await s3.objects()).toHaveLength(3);
});

it('names the item whose object is gone; the others are whole', async () => {
  const files = [randomBytes(10), randomBytes(20)];
  const { body } = await upload(files);
  const [gone] = (await s3.objects()).filter((key) => key.includes(hashOf(files[0] as Buffer)));
  await s3.lose(String(gone));
  const { data } = (await get(`/datasets/${body.id}/items`)).body;
  expect(data[0]).toMatchObject({
    error: { code: 'asset_missing' },
    item: { assets: [{ byte_length: 10 }, {}] },
  });
  expect(data[1].item.assets[0].data).toBe(files[1]?.toString('base64'));
  const missing = await get(`/datasets/${body.id}/assets/${hashOf(files[0] as Buffer)}`);
  expect([missing.status, missing.body.code]).toEqual([500, 'asset_missing']);
});

it('answers 503 during an outage and with wrong credentials, stores nothing, and recovers', async () => {
  const { body } = await upload(images);
  const outcomes = async (): Promise<unknown[]> => {
    const [list, asset, stored, links] = [
      await get(`/datasets/${body.id}/items`),
      await get(`/datasets/${body.id}/assets/${hashOf(images[0] as Buffer)}`),
      await upload([randomBytes(30)]),
      await get(`/datasets/${body.id}/items?assets=link`),
    ];
    return [list, asset, stored, links].map(({ status, body: { detail = '' } }) => `${status} ${detail}`);
  };
  line.target = null;
  line.cut();
  const away = '503 The object storage cannot be reached at the moment.';
  expect(await outcomes()).toEqual([away, away, away, '200 ']);
  line.target = s3.url.replace('http:', 'postgresql:');
  expect((await upload([randomBytes(30)])).status).toBe(201);
  expect((await get(`/datasets/${body.id}/items`)).status).toBe(200);

  vi.stubEnv('AWS_ACCESS_KEY_ID', 'another');
  await using stranger = await startTestApi({
    SVC_ASSET_STORE_URL: `s3://assets/files?endpoint=${s3.url}`,
  });
  const refused = await fetch(`${stranger.url}/datasets/upload`, {
    method: 'POST',
    body: uploadForm(
      buildZip({
        entries: [
          { name: 'sections/default.jsonl', content: '{"assets":["assets/a.png"]}' },
          { name: 'assets/a.png', content: randomBytes(9) },
        ],
      }) as Uint8Array<ArrayBuffer>,
    ),
  });
  expect([refused.status, ((await refused.json()) as Body).detail]).toEqual([
    503,
    'The object storage refuses the credentials of the service.',
  ]);
  expect((await stranger.store.datasets.list({ limit: 1 })).totalItems).toBe(0);
});
