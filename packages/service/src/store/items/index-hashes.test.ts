import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importItems } from '../../../test/store/import-items.ts';
import { createTestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';

const RUN = 65_536;

let cleanUp: AsyncDisposableStack;
let store: Store;
let other: Store;
let plain: pg.Pool;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  const database = await createTestDatabase();
  cleanUp.defer(() => database.drop());
  plain = new pg.Pool({ connectionString: database.url });
  cleanUp.defer(() => plain.end());
  store = createStore({ url: database.url });
  cleanUp.defer(() => store.close());
  other = createStore({ url: database.url });
  cleanUp.defer(() => other.close());
});
afterAll(() => cleanUp.disposeAsync());

const count = async (sql: string): Promise<number> =>
  Number((await plain.query<{ count: string }>(`SELECT count(*) FROM ${sql}`)).rows[0]?.count);

/** A dataset with sections of these sizes, one part each. */
async function insertItems(counts: readonly number[]): Promise<string> {
  const id = randomUUID();
  const sections = counts.map(() => randomUUID());
  await plain.query(
    `INSERT INTO datasets (id, name, source, schema) VALUES ($1, 'older', 'pkg_zip', '{"package":null,"source":"pkg_zip"}')`,
    [id],
  );
  await plain.query(
    `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, source)
     VALUES ($1, 1, $2, $3, $4, 0, 'upload')`,
    [id, '0'.repeat(64), sections, counts.reduce((sum, one) => sum + one, 0)],
  );
  for (const [index, items] of counts.entries()) {
    const section = sections[index];
    // Hashes as they are, ones that are there several times, ones that share their first bytes, the least and the greatest.
    await plain.query(
      `INSERT INTO items (part_id, ordinal, byte_length, item_hash, type, payload)
       SELECT $1, n, 2, CASE n % 100
         WHEN 1 THEN sha256((n % 5000)::text::bytea)
         WHEN 2 THEN '\\x0000'::bytea || substr(sha256(n::text::bytea), 3)
         WHEN 3 THEN '\\xffffff'::bytea || substr(sha256(n::text::bytea), 4)
         WHEN 4 THEN decode(repeat(CASE WHEN n % 2 = 0 THEN '00' ELSE 'ff' END, 32), 'hex')
         ELSE sha256((n * 7 + $3)::text::bytea) END, CASE WHEN n % 3 = 0 THEN 'exact' ELSE 'code' END, '{}'
       FROM generate_series(0, $2::int - 1) AS n`,
      [section, items, index],
    );
    await plain.query('INSERT INTO parts (id, dataset_id, item_count) VALUES ($1, $2, $3)', [
      section,
      id,
      items,
    ]);
    await plain.query(
      `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, part_ids, starts, firsts)
       VALUES ($1, $2, $3, $4, '', ARRAY[$1::uuid], '{0}', '{0}')`,
      [section, id, `s${index % 2}`, items],
    );
  }
  return id;
}

interface Found {
  readonly total: number;
  readonly positions: readonly string[];
}

/** What a look-up finds, over all of its pages. */
async function lookUp(id: string, itemHash: string, filter: object = {}): Promise<Found> {
  const positions: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.datasets.listItems(id, { limit: 500, cursor, itemHash, ...filter });
    page.release();
    positions.push(...page.data.map((item) => `${item.sectionOrderIndex}-${item.orderIndex}`));
    if (page.nextCursor === null) return { total: page.totalItems, positions };
    cursor = page.nextCursor;
  }
}

const WANTED = `SELECT s.order_index || '-' || i.ordinal AS position FROM version_sections s JOIN items i ON i.part_id = s.id
  WHERE s.dataset_id = $1 AND i.item_hash = decode($2, 'hex')`;

/** What the table has. */
async function read(id: string, hash: string, condition = ''): Promise<Found> {
  const { rows } = await plain.query<{ position: string }>(
    `${WANTED} ${condition} ORDER BY s.order_index, i.ordinal`,
    [id, hash],
  );
  return { total: rows.length, positions: rows.map(({ position }) => position) };
}

/** Hashes of some items of every kind, and of none. */
async function someHashes(id: string): Promise<string[]> {
  const { rows } = await plain.query<{ hash: string }>(
    `SELECT DISTINCT encode(item_hash, 'hex') AS hash FROM version_sections s JOIN items i ON i.part_id = s.id
     WHERE s.dataset_id = $1 AND i.ordinal IN (0, 1, 2, 3, 4, 104, 301, ${RUN - 1}, ${RUN}, ${RUN + 66}, ${RUN + 2_000})`,
    [id],
  );
  const absent = createHash('sha256').update('no item').digest('hex');
  return [...rows.map(({ hash }) => hash), absent, `0000${absent.slice(4)}`, `ffffff${absent.slice(6)}`];
}

/** A run with a result of each item. */
async function insertRun(datasetId: string): Promise<string> {
  const id = randomUUID();
  await plain.query(
    `INSERT INTO runs (id, dataset_id, dataset_version, dataset_version_hash, status, config, total, ok, finished_at)
     SELECT $1, dataset_id, version, version_hash, 'completed', '{}', item_count, item_count, now() FROM versions WHERE dataset_id = $2`,
    [id, datasetId],
  );
  await plain.query(
    `INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, status, item_hash)
     SELECT $1, s.order_index, i.ordinal, 1, s.name, 'ok', i.item_hash
     FROM version_sections s JOIN items i ON i.part_id = s.id WHERE s.dataset_id = $2`,
    [id, datasetId],
  );
  return id;
}

/** Compares look-ups of items, and of results of a run, with what the tables have. */
async function expectSame(id: string, runId?: string): Promise<void> {
  for (const hash of await someHashes(id)) {
    expect(await lookUp(id, hash), hash).toEqual(await read(id, hash));
    if (runId === undefined) continue;
    const page = await store.runs.listResults(runId, { item_hash: hash, limit: 5_000 });
    page.release();
    const positions = page.data.map((result) => `${result.sectionOrderIndex}-${result.orderIndex}`);
    const wanted = await read(id, hash);
    expect({ total: page.totalItems, positions }, hash).toEqual(wanted);
  }
}

it('look-ups by hash find what a pass over the items finds, before, during and after the blocks are made', async () => {
  const id = await insertItems([5_000, RUN + 5_000, 0, 300, 4_096]);
  const neighbour = await insertItems([5_000]);
  const runId = await insertRun(id);
  await expectSame(id, runId);

  // It ends in the middle of the second run of the large section.
  await plain.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
    CREATE TRIGGER fail BEFORE UPDATE ON parts FOR EACH ROW WHEN (new.hashed_items > ${RUN}) EXECUTE FUNCTION fail()`);
  await expect(store.datasets.indexHashes()).rejects.toThrow('no');
  expect(await count(`parts WHERE hashed_items = ${RUN}`)).toBe(1);
  expect(await count('hash_blocks WHERE run > 0')).toBe(0);
  await expectSame(id, runId);
  await plain.query('DROP FUNCTION fail CASCADE');
  await store.datasets.indexHashes(AbortSignal.abort());
  expect(await count('hash_blocks WHERE run > 0')).toBe(0);

  // Two processes share what is left.
  await Promise.all([store.datasets.indexHashes(), other.datasets.indexHashes()]);
  expect(await count('parts WHERE hashed_items < item_count')).toBe(1);
  expect(await store.datasets.indexHashes()).toBe(0);
  await expectSame(id, runId);
  await expectSame(neighbour);
  const [hash = ''] = await someHashes(id);
  for (const section of ['s0', 's1'])
    expect(await lookUp(id, hash, { section })).toEqual(await read(id, hash, `AND s.name = '${section}'`));
  const zeros = '00'.repeat(32);
  expect(await lookUp(id, zeros, { type: 'exact' })).toEqual(await read(id, zeros, `AND i.type = 'exact'`));
  expect((await lookUp(id, zeros)).total).toBeGreaterThan(500);

  // A look-up reads the blocks and nothing else: without entries it finds nothing.
  await plain.query("UPDATE hash_blocks SET entries = '{}'");
  expect((await lookUp(id, zeros)).positions).toEqual(
    (await read(id, zeros, 'AND s.item_count = 300')).positions,
  );

  // They are removed with the items.
  for (const [deleted, left] of [
    [id, 256],
    [neighbour, 0],
  ] as const) {
    await store.datasets.delete(deleted);
    await store.datasets.collect();
    expect(await count('hash_blocks')).toBe(left);
  }
});

it('a part that has grown gets blocks of its new items too', async () => {
  const id = await insertItems([5_000]);
  await store.datasets.indexHashes();
  await plain.query(
    `WITH part AS (UPDATE parts SET item_count = 10000 WHERE dataset_id = $1 RETURNING id),
       section AS (UPDATE sections SET item_count = 10000 WHERE dataset_id = $1)
     INSERT INTO items (part_id, ordinal, byte_length, item_hash, type, payload)
     SELECT id, n, 2, sha256((n % 6000)::text::bytea), 'exact', '{}' FROM part, generate_series(5000, 9999) AS n`,
    [id],
  );
  expect(await store.datasets.indexHashes()).toBe(5_000);
  await expectSame(id);
});

it('items that an import stores are found in blocks too', async () => {
  const lines = Array.from({ length: 4_100 }, (_, id) => `{"id":${id % 4_000},"inputs":{"prompt":"p"}}`);
  const { id } = await importItems(store.datasets, { a: lines, b: lines.slice(0, 10) });
  const page = await store.datasets.listItems(id, { limit: 1 });
  page.release();
  const hash = Buffer.from(page.data[0]?.itemHash ?? []).toString('hex');
  const wanted = { total: 3, positions: ['0-0', '0-4000', '1-0'] };
  expect(await lookUp(id, hash)).toEqual(wanted);
  expect(await store.datasets.indexHashes()).toBe(4_100);
  expect(await lookUp(id, hash)).toEqual(wanted);
});
