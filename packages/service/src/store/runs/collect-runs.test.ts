import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  query(`SELECT (SELECT count(*)::int FROM run_results) AS results, (SELECT count(*)::int FROM run_items) AS items,
    (SELECT count(*)::int FROM run_differences) AS differences, (SELECT count(*)::int FROM loose_runs) AS noted`);

it('removes what deleted runs have left, once by several processes, and nothing of other runs', async () => {
  const [dataset, kept, gone] = [randomUUID(), randomUUID(), randomUUID()];
  const hash = 'a'.repeat(64);
  const run = (
    id: string,
  ): string => `INSERT INTO runs (id, dataset_id, dataset_version, dataset_version_hash, config, total)
      VALUES ('${id}', '${dataset}', 1, '${hash}', '{}', 0);
    INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, status)
      SELECT '${id}', 0, number / 3, number % 3 + 1, 's', 'ok' FROM generate_series(0, 25004) AS number;
    INSERT INTO run_items (run_id, section_order_index, order_index)
      SELECT '${id}', 0, number FROM generate_series(0, 99) AS number;`;
  const comparison = (
    id: string,
    other: string,
  ): string => `INSERT INTO run_comparisons VALUES ('${id}', '${other}', 'hash', '', '');
    INSERT INTO run_differences SELECT '${id}', '${other}', 'hash', 0, number, 0, number, 1, 0, true, false, true
      FROM generate_series(0, 9) AS number;`;
  await query(`INSERT INTO datasets (id, name, source, schema) VALUES ('${dataset}', 'd', 'file', '{}');
    INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, source)
      VALUES ('${dataset}', 1, '${hash}', '{}', 0, 0, 'upload');
    ${run(kept)} ${run(gone)} ${comparison(kept, gone)} ${comparison(gone, kept)} ${comparison(kept, kept)}`);
  await query(`DELETE FROM runs WHERE id = '${gone}'`);

  const stopped = new AbortController();
  stopped.abort();
  expect(await store.runs.collect(stopped.signal)).toBe(0);
  const removed = await Promise.all([store.runs.collect(), store.runs.collect()]);
  removed.push(await store.runs.collect());
  expect(removed.reduce((sum, count) => sum + count)).toBe(25_005 + 100 + 20);
  expect(await leftovers()).toEqual([{ results: 25_005, items: 100, differences: 10, noted: 0 }]);

  await store.datasets.delete(dataset);
  await store.runs.collect();
  expect(await leftovers()).toEqual([{ results: 0, items: 0, differences: 0, noted: 0 }]);
});
