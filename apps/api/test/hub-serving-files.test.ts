import { createHash, randomBytes } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { createStore } from '@svc/service/store';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { importItems } from '../../../packages/service/test/store/import-items.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { times } from '../../../tools/vitest/long.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const lines = (items: readonly object[]): string => items.map((item) => JSON.stringify(item)).join('\n');

async function send(path: string, init: RequestInit): Promise<{ id: string; version_hash: string }> {
  const response = await fetch(`${api.url}${path}`, init);
  expect([200, 201, 204]).toContain(response.status);
  if (response.status === 204) return { id: '', version_hash: '' };
  return (await response.json()) as { id: string; version_hash: string };
}

const upload = async (handle: string, sections: Readonly<Record<string, readonly object[]>>) => {
  const files = Object.entries(sections).map(([name, items]) => [`sections/${name}.jsonl`, lines(items)]);
  const body = uploadForm(await makePackage(Object.fromEntries(files)), { handle });
  return await send('/datasets/upload', { method: 'POST', body });
};

const append = (handle: string, items: readonly object[]) =>
  send(`/datasets/${handle}/items?mode=append`, {
    method: 'POST',
    body: lines(items),
    headers: { 'content-type': 'application/jsonl' },
  });

async function read(path: string, init: RequestInit = {}) {
  const response = await fetch(`${api.url}${path}`, init);
  const { status, headers } = response;
  return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const fileOf = (handle: string, path: string, revision = 'main'): string =>
  `/datasets/svc/${handle}/resolve/${revision}/${path}`;

interface Entry {
  readonly path: string;
  readonly size: number;
  readonly oid: string;
}

const treeOf = async (handle: string, revision = 'main'): Promise<Entry[]> => {
  const { status, bytes } = await read(`/api/datasets/svc/${handle}/tree/${revision}?recursive=true`);
  expect(status).toBe(200);
  return JSON.parse(bytes.toString());
};

async function rowsOf(bytes: Buffer): Promise<Record<string, unknown>[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const compressors = { ZSTD: (page: Uint8Array) => new Uint8Array(zstdDecompressSync(page)) };
  return (await parquetReadObjects({ file, compressors, utf8: false })) as Record<string, unknown>[];
}

/** Items whose tables have several groups. */
const some = (count: number, from = 0): object[] =>
  Array.from({ length: count }, (_, index) => ({
    id: from + index,
    inputs: {
      prompt: createHash('sha512')
        .update(`${from + index}`)
        .digest('hex')
        .repeat(3),
    },
    answer: from + index,
    meta: { level: index },
  }));

const IMAGE = { mime_type: 'image/png', encoding: 'base64', data: Buffer.from('image').toString('base64') };

it('tells names before anything is made, and every size is that of its file', async () => {
  const sections = Object.fromEntries(
    Array.from({ length: 520 }, (_, n) => [
      `section-${n}`,
      [
        {
          inputs: { prompt: `é ${n}` },
          ...(n % 2 === 0 ? { answer: n } : {}),
          ...(n % 3 === 0 ? { checker: { type: 'exact' } } : {}),
          ...(n % 5 === 0 ? { assets: { picture: { ...IMAGE, path: `${n}.png` } } } : {}),
        },
      ],
    ]),
  );
  const { version_hash } = await upload('wide', sections);
  const info = await read('/api/datasets/svc/wide');
  expect([info.status, JSON.parse(info.bytes.toString())]).toMatchObject([
    200,
    { sha: version_hash.slice(0, 40), siblings: { length: 2 + 2 * 520 } },
  ]);
  const pages = [
    await treeOf('wide'),
    JSON.parse((await read('/api/datasets/svc/wide/tree/main/items')).bytes.toString()),
  ];
  const entries = new Map(pages.flat().map((entry: Entry) => [entry.path, entry]));
  for (const path of [
    'data/section_0-00000-of-00001.parquet',
    ...[0, 1, 2, 3, 5, 30].map((n) => `items/section_${n}.jsonl`),
  ]) {
    const { status, bytes, headers } = await read(fileOf('wide', path));
    expect([path, status, bytes.byteLength]).toEqual([path, 200, entries.get(path)?.size]);
    expect(headers.get('etag')?.slice(1, 41)).toBe(entries.get(path)?.oid);
  }
});

it('knows the columns of what an import stores when it commits', async () => {
  const items = some(20_000).map((item, index) => ({
    ...item,
    ...(index < 100 ? {} : { meta: undefined }),
    ...(index % 5_000 === 4_000 ? { assets: { picture: IMAGE } } : {}),
    ...(index === 12_345 ? { answer: 'text', meta: { level: 'x', other: true } } : {}),
  }));
  const sections = { train: items.slice(0, 3_000), test: items };
  const texts = Object.entries(sections).map(([name, some]) => [
    name,
    some.map((item) => JSON.stringify(item)),
  ]);
  const store = createStore({ url: api.databaseUrl, encoderThreads: 1 });
  onTestFinished(() => store.close());
  const { id } = await importItems(store.datasets, Object.fromEntries(texts));
  const [known] = await queryDatabase(
    api.databaseUrl,
    `SELECT sum((profile::json ->> 'items')::int)::int AS items FROM hub_profiles JOIN parts ON parts.id = part_id
     WHERE dataset_id = '${id}'`,
  );
  // All but those of a short batch at the end.
  expect(known.items).toBeGreaterThanOrEqual(19_000);
  const card = async (): Promise<string> => (await read(fileOf(id, 'README.md'))).bytes.toString();
  const told = await card();
  const tasks = async (): Promise<string> => (await read(fileOf(id, 'eval.yaml'))).bytes.toString();
  const toldTasks = await tasks();
  for (const name of ['other', 'picture']) expect(told).toContain(`name: "${name}"`);
  for (const table of ['hub_profiles', 'hub_layouts'])
    await queryDatabase(api.databaseUrl, `DELETE FROM ${table}`);
  expect(await card()).toBe(told);
  expect(await tasks()).toBe(toldTasks);
});

const unmade = (id: string, version = 1) =>
  queryDatabase(
    api.databaseUrl,
    `SELECT count(*)::int AS files, count(*) FILTER (WHERE byte_length IS NULL)::int AS unmade FROM hub_files
     WHERE dataset_id = '${id}' AND version = ${version}`,
  );

it('makes files in the background when a version was stored, whoever stored it', async () => {
  const { id } = await upload('background', { train: some(3) });
  await expect.poll(() => unmade(id)).toEqual([{ files: 2, unmade: 0 }]);
  await append('background', some(1, 3));
  await expect.poll(() => unmade(id, 2)).toEqual([{ files: 2, unmade: 0 }]);
});

it('makes nothing in the background while a dataset is read', async () => {
  const { id } = await upload('read-first', { train: some(3) });
  await expect.poll(() => unmade(id)).toEqual([{ files: 2, unmade: 0 }]);
  const open = await api.store.datasets.open(id);
  await append('read-first', some(1, 3));
  await upload('read-first-too', { train: some(3) });
  expect(await unmade(id, 2)).toEqual([{ files: 0, unmade: 0 }]);
  expect((await read(fileOf('read-first', 'data/train-00000-of-00001.parquet'))).status).toBe(200);
  await open[Symbol.asyncDispose]();
  await expect.poll(() => unmade(id, 2)).toEqual([{ files: 2, unmade: 0 }]);
});

it('makes no tables before they are asked for where a file is embedded so often that they would be large', async () => {
  const items = Array.from({ length: 260 }, () => ({ assets: ['assets/shared.png'] }));
  const archive = await makePackage({
    'sections/train.jsonl': lines(items),
    'assets/shared.png': randomBytes(2_000_000),
  });
  const init = { method: 'POST', body: uploadForm(archive, { handle: 'embedded' }) };
  const { id } = await send('/datasets/upload', init);
  await expect.poll(async () => (await unmade(id))[0]?.files).toBeGreaterThan(100);
  // one version after the other
  const { id: later } = await upload('after-embedded', { train: some(1) });
  await expect.poll(() => unmade(later)).toEqual([{ files: 2, unmade: 0 }]);
  const [{ files, unmade: left }] = await unmade(id);
  expect(left).toBe(files - 1);
  const path = `data/train-00000-of-${String(left).padStart(5, '0')}.parquet`;
  expect((await read(fileOf('embedded', path))).bytes.byteLength).toBeGreaterThan(2_000_000);
});

it('reads ranges of what was made, and makes nothing again', async () => {
  const items = some(12_000);
  const { id } = await upload('ranges', { train: items });
  const tables = (await treeOf('ranges')).filter(({ path }) => path.startsWith('data/'));
  expect(tables.length).toBeGreaterThan(1);
  const whole = await Promise.all(tables.map(({ path }) => read(fileOf('ranges', path))));
  expect((await Promise.all(whole.map(({ bytes }) => rowsOf(bytes)))).flat().map(({ id }) => id)).toEqual(
    items.map((_, index) => `${index}`),
  );
  const [text = Buffer.alloc(0)] = [(await read(fileOf('ranges', 'items/train.jsonl'))).bytes];
  expect(text.equals((await read(`/datasets/${id}/items.jsonl`)).bytes)).toBe(true);
  const range = async (path: string, all: Buffer, start: number, length: number): Promise<void> => {
    const end = Math.min(all.length, start + length);
    const init = { headers: { range: `bytes=${start}-${end - 1}` } };
    const { status, bytes } = await read(fileOf('ranges', path), init);
    expect([status, bytes.equals(all.subarray(start, end))]).toEqual([206, true]);
  };
  await fc.assert(
    fc.asyncProperty(fc.nat(text.length - 1), fc.integer({ min: 1, max: 3_000_000 }), (start, length) =>
      range('items/train.jsonl', text, start, length),
    ),
    { numRuns: 15 },
  );
  await queryDatabase(
    api.databaseUrl,
    `DELETE FROM items WHERE part_id IN (SELECT id FROM parts WHERE dataset_id = '${id}')`,
  );
  const table = whole[0]?.bytes ?? Buffer.alloc(0);
  await fc.assert(
    fc.asyncProperty(fc.nat(table.length - 1), fc.integer({ min: 1, max: 1_000_000 }), (start, length) =>
      range(tables[0]?.path ?? '', table, start, length),
    ),
    { numRuns: 15 },
  );
});

it('sends files whole whose version is deleted meanwhile, also when what it had is collected', async () => {
  await upload('cut', { train: some(30_000) });
  await append('cut', some(1, 30_000));
  const [table] = (await treeOf('cut', 'v2')).filter(({ path }) => path.startsWith('data/'));
  const paths = ['items/train.jsonl', table?.path ?? ''];
  const expected = await Promise.all(
    paths.map(async (path) => (await read(fileOf('cut', path, 'v2'))).bytes),
  );
  await send('/datasets/cut/items?mode=replace', {
    method: 'POST',
    body: lines(some(1, 50_000)),
    headers: { 'content-type': 'application/jsonl' },
  });
  const responses = await Promise.all(paths.map((path) => fetch(`${api.url}${fileOf('cut', path, 'v2')}`)));
  const readers = responses.map(({ body }) => (body as ReadableStream<Uint8Array>).getReader());
  const begun = await Promise.all(
    readers.map(async (reader) => [(await reader.read()).value ?? new Uint8Array()]),
  );
  for (const version of [2, 1]) await send(`/datasets/cut/versions/${version}`, { method: 'DELETE' });
  await api.store.datasets.collect();
  await api.store.hubFiles.collect({ days: 1, bytes: 1 });
  await api.store.assets.collect();
  for (const [index, reader] of readers.entries()) {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      begun[index]?.push(next.value);
    expect(Buffer.concat(begun[index] ?? []).equals(expected[index] as Buffer)).toBe(true);
  }
  expect((await read(fileOf('cut', paths[1] ?? '', 'v2'))).status).toBe(404);
});

it('serves many sections directly after they are stored, and whole when they are deleted meanwhile', async () => {
  const sections = times(520, 20);
  const small = Array.from({ length: sections - 1 }, (_, n) => [`s${n}`, some(1, n)] as const);
  await upload('fresh', { large: some(30_000), ...Object.fromEntries(small) });
  await send('/datasets/fresh/items?mode=append&section=large', {
    method: 'POST',
    body: lines(some(1, 30_000)),
    headers: { 'content-type': 'application/jsonl' },
  });
  const paths = ['s0', `s${sections / 2}`, `s${sections - 2}`].flatMap((name) => [
    `items/${name}.jsonl`,
    `data/${name}-00000-of-00001.parquet`,
  ]);
  const answers = await Promise.all(
    ['README.md', 'items/large.jsonl', ...paths].map(async (path) => ({
      path,
      response: await fetch(`${api.url}${fileOf('fresh', path, 'v1')}`),
    })),
  );
  await send('/datasets/fresh/versions/1', { method: 'DELETE' });
  await api.store.datasets.collect();
  for (const { path, response } of answers) {
    expect([path, response.status]).toEqual([path, 200]);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([path, bytes.byteLength]).toEqual([path, Number(response.headers.get('content-length'))]);
    if (path === 'items/large.jsonl') expect(bytes.toString().trimEnd().split('\n')).toHaveLength(30_000);
    if (path.startsWith('data/')) expect((await rowsOf(bytes)).length).toBeGreaterThan(0);
  }
  expect((await read(fileOf('fresh', 'README.md', 'v1'))).status).toBe(404);
});

it('uses the tables of another version that has them', async () => {
  const { id } = await upload('shared', { train: some(12_000) });
  const before = await treeOf('shared');
  const sources = (version: number) =>
    queryDatabase(
      api.databaseUrl,
      `SELECT path, encode(source, 'hex') AS source FROM hub_files WHERE dataset_id = '${id}' AND version = ${version}
         AND source IS NOT NULL ORDER BY path LIMIT 1`,
    );
  await append('shared', some(1, 12_000));
  const after = await treeOf('shared');
  const first = before.findIndex(({ path }) => path.startsWith('data/'));
  expect(after[first]).toEqual(before[first]);
  expect(await sources(2)).toEqual(await sources(1));
});

it('keeps tables within their limits, and makes those again that are asked for', async () => {
  await upload('limits', { train: some(10) });
  const path = 'data/train-00000-of-00001.parquet';
  const { bytes, headers } = await read(fileOf('limits', path));
  const { hubFiles, assets } = api.store;
  const hash = createHash('sha256').update(bytes).digest('hex');
  expect(headers.get('etag')).toBe(`"${hash}"`);
  const kept = async (): Promise<number> =>
    (await queryDatabase(api.databaseUrl, `SELECT FROM assets WHERE sha256 = '\\x${hash}'`)).length;
  const age = (days: number) =>
    queryDatabase(
      api.databaseUrl,
      `UPDATE hub_contents SET used_at = now() - interval '${days} days' WHERE sha256 = '\\x${hash}'`,
    );
  const collect = async (limits: { readonly days: number; readonly bytes: number }): Promise<number> => {
    await hubFiles.collect(limits);
    await assets.collect();
    return await kept();
  };
  expect(await collect({ days: 1, bytes: 1 })).toBe(1);
  await age(2);
  expect(await collect({ days: 3, bytes: 1e12 })).toBe(1);
  expect(await collect({ days: 1, bytes: 1e12 })).toBe(0);
  // A size that is known needs no bytes.
  const head = await read(fileOf('limits', path), { method: 'HEAD' });
  expect([head.headers.get('content-length'), await kept()]).toEqual([`${bytes.byteLength}`, 0]);
  expect((await read(fileOf('limits', path))).bytes.equals(bytes)).toBe(true);
  // That somebody has read a file is noted after its bytes.
  const collectAged = async (days: number, bytes: number): Promise<number> => {
    await age(days);
    return await collect({ days: 3, bytes });
  };
  await expect.poll(() => collectAged(2, 1)).toBe(0);
  expect((await read(fileOf('limits', path))).bytes.equals(bytes)).toBe(true);
  await send('/datasets/limits', { method: 'DELETE' });
  await expect.poll(() => collectAged(1, 1e12)).toBe(0);
});
