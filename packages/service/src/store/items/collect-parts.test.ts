import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 4 });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const query = (sql: string): Promise<unknown[]> => queryDatabase(database.url, sql);

const leftovers = (): Promise<unknown> =>
  query('SELECT (SELECT count(*)::int FROM items) AS items, count(*)::int AS noted FROM loose_parts');

/** On a cluster, what waits for a row of an item waits on its node. */
const ACTIVITY = (process.env['TEST_CITUS_URL'] ?? '') === '' ? 'pg_stat_activity' : 'citus_stat_activity';
/** Sessions that wait for a lock. */
const waiting = (): Promise<unknown[]> =>
  query(`SELECT FROM ${ACTIVITY} WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND backend_type = 'client backend'`);

/** A deleted part, whose items have ordinals from 5 to 25,004. */
let part: string;
beforeEach(async () => {
  part = randomUUID();
  await query(`INSERT INTO loose_parts (part_id) VALUES ('${part}');
    INSERT INTO items (part_id, ordinal, byte_length, item_hash, type, payload)
    SELECT '${part}', number, 2, sha256(''), 'freeform', '{}' FROM generate_series(5, 25004) AS number`);
});

describe('items of deleted parts', () => {
  it('are each removed once by two processes', async () => {
    const removed = await Promise.all([store.datasets.collect(), store.datasets.collect()]);
    removed.push(await store.datasets.collect());
    expect(removed.reduce((sum, count) => sum + count)).toBe(25_000);
    expect(await leftovers()).toEqual([{ items: 0, noted: 0 }]);
  });

  it('are removed up to the end of a transaction by a process that stops, and the rest by the next one', async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM items WHERE part_id = $1 AND ordinal = 5 FOR UPDATE', [part]);
    const stopping = new AbortController();
    const collecting = store.datasets.collect(stopping.signal);
    await expect.poll(waiting).toHaveLength(1);
    stopping.abort();
    await holder.end();
    expect(await collecting).toBe(9_995);
    expect(await store.datasets.collect()).toBe(15_005);
    expect(await leftovers()).toEqual([{ items: 0, noted: 0 }]);
  });

  it('are removed although a section lets go of some while others are being removed', async () => {
    const [dataset, section] = [randomUUID(), randomUUID()];
    await query(`INSERT INTO datasets (id, name, source, schema) VALUES ('${dataset}', 'shared', 'file', '{}');
      INSERT INTO parts (id, dataset_id, item_count) VALUES ('${part}', '${dataset}', 25005);
      INSERT INTO sections (id, dataset_id, name, item_count, section_hash, part_ids, starts, firsts)
      VALUES ('${section}', '${dataset}', 's', 100, '', ARRAY['${part}'::uuid], '{0}', '{5}')`);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM items WHERE part_id = $1 AND ordinal = 10005 FOR UPDATE', [part]);
    const collecting = store.datasets.collect();
    await expect.poll(waiting).toHaveLength(1);
    await query(
      `DELETE FROM sections WHERE id = '${section}'; INSERT INTO loose_parts (part_id) VALUES ('${part}')`,
    );
    await holder.end();
    expect(await collecting).toBeGreaterThanOrEqual(24_900);
    await store.datasets.collect();
    expect(await leftovers()).toEqual([{ items: 0, noted: 0 }]);
    await query(`DELETE FROM datasets WHERE id = '${dataset}'`);
  });
});
