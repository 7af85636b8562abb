import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { recordSnapshots, type Snapshot } from '../../../packages/service/test/store/record-snapshots.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

const MIB = 1024 * 1024;
/** Together 96 MiB of texts that cannot be compressed: several row groups of Parquet. */
const ROWS = 3_072;
const TEXT_BYTES = 32 * 1024;
/** What may be read for one reader: what the sockets of two connections hold, and some batches or a row group of 32 MiB. */
const MAX_READ_BYTES = { csv: 24 * MIB, parquet: 56 * MIB } as const;

let cleanUp: AsyncDisposableStack;
let api: TestApi;
let snapshots: readonly Snapshot[];
const datasetId = randomUUID();
const runId = randomUUID();
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  ({ snapshots } = cleanUp.use(recordSnapshots()));
  api = cleanUp.use(await startTestApi());
  await insertTexts();
});
afterAll(() => cleanUp.disposeAsync());

/** A dataset and a run of it. */
async function insertTexts(): Promise<void> {
  const insert = (sql: string, values: unknown[]): Promise<unknown> =>
    queryDatabase(api.databaseUrl, sql, values);
  const section = randomUUID();
  await insert(
    `INSERT INTO datasets (id, name, source, schema) VALUES ($1, 'large', 'file', '{"source":"file"}')`,
    [datasetId],
  );
  await insert(
    `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, part_ids, starts, firsts)
     VALUES ($1, $2, 's', $3, '', ARRAY[$1::uuid], '{0}', '{0}')`,
    [section, datasetId, ROWS],
  );
  await insert('INSERT INTO parts (id, dataset_id, item_count) VALUES ($1, $2, $3)', [
    section,
    datasetId,
    ROWS,
  ]);
  await insert(
    `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, source)
     VALUES ($1, 1, repeat('a', 64), ARRAY[$2::uuid], $3, 0, 'upload')`,
    [datasetId, section, ROWS],
  );
  for (let first = 0; first < ROWS; first += ROWS / 4) {
    const texts = Array.from({ length: ROWS / 4 }, () =>
      randomBytes((TEXT_BYTES * 3) / 4).toString('base64'),
    );
    await insert(
      `INSERT INTO items (part_id, ordinal, byte_length, item_hash, type, payload)
       SELECT $1, $2::int + n, length(text) + 26, sha256(n::text::bytea), 'exact', ('{"inputs":{"prompt":"' || text || '"}}')::json
       FROM unnest($3::text[]) WITH ORDINALITY AS texts (text, n)`,
      [section, first - 1, texts],
    );
  }
  await insert(
    `INSERT INTO runs (id, dataset_id, dataset_version, dataset_version_hash, status, config, total, ok, finished_at)
     VALUES ($1, $2, 1, repeat('a', 64), 'completed', '{"provider":{"type":"echo"}}', $3, $3, now())`,
    [runId, datasetId, ROWS],
  );
  await insert(
    `INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, status, output, item_hash)
     SELECT $1, 0, ordinal, 1, 's', 'ok', (payload -> 'inputs' -> 'prompt')::text, item_hash FROM items`,
    [runId],
  );
}

/** A client that takes the first bytes of a response and nothing more. */
async function stall(path: string): Promise<Socket> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  expect(head.toString('latin1', 0, 15)).toBe('HTTP/1.1 200 OK');
  return socket;
}

/** Reads all of a response as fast as it comes. @returns its bytes */
async function readAll(path: string): Promise<number> {
  const response = await fetch(`${api.url}${path}`, { headers: { 'Accept-Encoding': 'identity' } });
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
  return bytes;
}

const OPEN = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
  AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;

it.each([
  [`/datasets/${datasetId}/items`, 'csv'],
  [`/datasets/${datasetId}/items`, 'parquet'],
  [`/runs/${runId}/results`, 'csv'],
  [`/runs/${runId}/results`, 'parquet'],
] as const)(
  'reads of %s.%s what its reader takes, and frees everything when that leaves',
  async (table, format) => {
    const path = `${table}.${format}`;
    const left = (): number => api.log().filter(({ status_code }) => status_code === 499).length;
    const leftBefore = left();
    using stack = new DisposableStack();
    const stalled = stack.adopt(await stall(path), (socket) => socket.destroy());
    const snapshot = snapshots.at(-1);
    // By the time that another reader has everything, this one would have too if it were not waited for.
    expect(await readAll(path)).toBeGreaterThan(MAX_READ_BYTES[format]);
    const other = snapshots.at(-1);
    if (snapshot === undefined || other === undefined || snapshot === other) throw new Error('no snapshot');
    expect(other.readBytes()).toBeGreaterThan(ROWS * TEXT_BYTES);
    expect(snapshot.readBytes()).toBeLessThan(MAX_READ_BYTES[format]);
    // The other reader's transaction ends after the last byte of its response.
    await expect.poll(() => queryDatabase(api.databaseUrl, OPEN)).toHaveLength(1);

    stalled.destroy();
    await expect.poll(() => queryDatabase(api.databaseUrl, OPEN)).toEqual([]);
    await expect.poll(left).toBe(leftBefore + 1);
  },
);
