import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readMapping } from '@svc/jsonl-v23/mapping';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { openFiles } from '../../../packages/svc-pkg/src/local/open-files.ts';
import { packFiles } from '../../../packages/svc-pkg/src/local/pack-files.ts';
import { DuckDb } from '../../../packages/tabular/test/duckdb.ts';
import { times } from '../../../tools/vitest/long.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let hub: FakeHub;
let api: TestApi;
let duckDb: DuckDb;
let folder: string;
beforeAll(async () => {
  hub = await startFakeHub();
  api = await startTestApi({ HUB_ENDPOINT: hub.endpoint });
  duckDb = await DuckDb.open();
  folder = await mkdtemp(join(tmpdir(), 'svc-groups-'));
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await duckDb[Symbol.asyncDispose]();
  await hub.close();
  await rm(folder, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

async function post(path: string, body: FormData | string): Promise<Body> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const response = await fetch(`${api.url}${path}`, { method: 'POST', body, headers });
  const answer: Body = await response.json();
  expect([path, response.status, response.ok ? '' : answer]).toEqual([path, expect.any(Number), '']);
  return answer;
}

/** The number of the columns in `meta`, of the letters of each prompt, and of the rows of a group and of the file. */
type Shape = readonly [columns: number, letters: number, groupRows: number, rows: number];

const shapes: fc.Arbitrary<Shape> = fc.tuple(
  fc.integer({ min: 0, max: 40 }),
  fc.constantFrom(10, 1_000, 9_000, 20_000),
  fc.constantFrom(2_048, 4_096),
  fc.constantFrom(1, 2_047, 2_100, 4_500),
);

it('reads any number of columns and sizes of row groups as DuckDB does, on every way in', async () => {
  let number = 0;
  const isRead = async ([columnCount, letters, groupRows, rowCount]: Shape): Promise<void> => {
    const names = Array.from({ length: columnCount }, (_, column) => `c${column}`);
    const others = names.map((name, column) =>
      column % 3 === 0 ? `i * ${column} AS ${name}` : `'${name}-' || i AS ${name}`,
    );
    const columns = [
      `'id-' || i AS id`,
      `repeat(chr((65 + i % 26)::int), ${letters}) || i AS q`,
      ...others,
      'i AS unused',
    ];
    const file = await duckDb.write(
      `SELECT ${columns.join(', ')} FROM range(${rowCount}) AS rows (i)`,
      `row_group_size ${groupRows}, compression uncompressed`,
    );
    const rows = await duckDb.query('SELECT * FROM file');
    const lines = rows.map(({ id, q, unused: _, ...more }) => {
      const meta = Object.entries(more).sort(([a], [b]) => (a < b ? -1 : 1));
      const values = meta.map(([name, value]) => [name, /^\d+$/.test(`${value}`) ? Number(value) : value]);
      const inMeta = columnCount === 0 ? {} : { meta: Object.fromEntries(values) };
      return JSON.stringify({ id, inputs: { prompt: q }, ...inMeta, type: 'freeform' });
    });
    const mapping = { prompt_column: 'q', id_column: 'id', meta_columns: names };
    const form = (): FormData => {
      const body = new FormData();
      body.append('file', new Blob([file as Uint8Array<ArrayBuffer>]), 'a.parquet');
      body.append('mapping', JSON.stringify(mapping));
      return body;
    };
    const preview = await post('/datasets/upload/preview', form());
    expect(preview.items.map(({ item }: Body) => item.id)).toEqual(rows.slice(0, 10).map(({ id }) => id));
    const { id, version_hash } = await post('/datasets/upload', form());
    const stored = await (await fetch(`${api.url}/datasets/${id}/items.jsonl`)).text();
    // Not by `toEqual`, which would print megabytes.
    expect(stored === lines.map((line) => `${line}\n`).join('')).toBe(true);

    const path = join(folder, 'a.parquet');
    await writeFile(path, file);
    const { signal } = new AbortController();
    await using opened = await openFiles({ stdin: Readable.from([]), signal }, [path], {
      hints: {},
      isMapped: true,
    });
    const given = { mapping: readMapping(mapping), wire: mapping };
    const generator = { name: 'test', version: '0' };
    const archive = join(folder, 'a.pkg.zip');
    const target = {
      force: true,
      generator,
      signal,
      onProgress: () => undefined,
    };
    const packed = await packFiles(opened, given, { name: 'a', description: undefined }, archive, target);

    const name = `org/groups-${number++}`;
    hub.add({ id: name, files: { 'train.parquet': file } });
    const request = { name: 'hub', config: { path: name }, mapping };
    const imported = await post('/datasets/hub/import', JSON.stringify(request));
    expect([packed.versionHash, imported.version_hash]).toEqual([version_hash, version_hash]);
  };
  await fc.assert(fc.asyncProperty(shapes, isRead), {
    numRuns: times(40, 1),
    examples: [[[11, 8_300, 2_048, 2_050]], [[4, 20_000, 4_096, 2_047]]],
  });
});
