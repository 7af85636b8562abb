import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importItems } from '../../../../test/store/import-items.ts';
import { openTestStore, type TestStore } from '../../../../test/store/open-test-store.ts';
import type { Store } from '../../create-store.ts';
import type { Pool } from '../../postgres/pool.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { createLocator, type ItemReference } from './locate-items.ts';

let opened: TestStore;
let store: Store;
let pool: Pool;
beforeAll(async () => {
  opened = await openTestStore();
  ({ store, pool } = opened);
});
afterAll(() => opened[Symbol.asyncDispose]());

/** Some without an id, some with that of others, and 300 with the same. */
const line = (section: string, index: number): string => {
  const id =
    index % 7 === 0
      ? {}
      : { id: index % 5 === 0 ? index % 50 : index % 100 === 1 ? 'same' : `${section} ${index}` };
  return JSON.stringify({ ...id, inputs: { prompt: `${index % 11 === 0 ? 'twin' : section} ${index}` } });
};
const lines = (section: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => line(section, index));

it.each(['all items', 'selected items'])(
  'finds %s by ids and hashes with an index as by a pass, which reads the items once',
  async (which) => {
    const { id: datasetId } = await importItems(store.datasets, {
      small: lines('small', 3),
      large: lines('large', 45_000),
      other: lines('other', 2_000),
      last: lines('last', 1),
    });
    const run = await store.runs.create({
      ...{ id: randomUUID(), datasetId, repetitions: 1, requestId: 'r' },
      ...(which === 'all items' ? {} : { selection: { limit: 5_000 } }),
      config:
        '{"provider":{"type":"external","label":"x"},"timeout_ms":1000,"concurrency":1,"repetitions":1}',
    });
    const { rows } = await pool.query<{ itemId: string | null; itemHash: string }>(
      `SELECT i.item_id AS "itemId", encode(i.item_hash, 'hex') AS "itemHash" FROM items i ORDER BY md5(i.ordinal::text) LIMIT 6000`,
    );
    const byHash = (itemHash: string): ItemReference => ({
      ...{ section: null, orderIndex: null, itemId: null, itemHash },
    });
    const byId = (itemId: string): ItemReference => ({
      ...{ section: null, orderIndex: null, itemId, itemHash: null },
    });
    const references = [
      ...rows.flatMap(({ itemId, itemHash }) => [
        byHash(itemHash),
        ...(itemId === null ? [] : [byId(itemId)]),
      ]),
      ...[byId('"same"'), byId('"none"'), byId('5'), byHash('00'.repeat(32))],
    ];

    const query = createReadQuery(pool, new AbortController().signal);
    const pass = await createLocator(query, run);
    const wanted = await pass(references);
    for (const isId of [true, false]) {
      const queries: string[] = [];
      const counted: ReadQuery = async (sql, values) => {
        queries.push(sql);
        return await query(sql, values);
      };
      const indexed = await createLocator(counted, run);
      await indexed([isId ? byId('"none"') : byHash('00'.repeat(32))]);
      const some = [...references.entries()].filter(([, { itemId }]) => (itemId !== null) === isId);
      for (let start = 0; start < some.length; start += 500) {
        const batch = some.slice(start, start + 500);
        expect(await indexed(batch.map(([, reference]) => reference))).toEqual(
          batch.map(([index]) => wanted[index]),
        );
      }
      const builds = queries.filter((sql) => sql.includes('hashtextextended') && sql.includes('items'));
      expect(builds).toHaveLength(3);
      expect(queries.filter((sql) => sql.includes('ANY ($1::text[])')).length).toBeLessThan(4);
    }
    const problems = new Set(wanted.map((one) => ('problem' in one ? one.problem : 'found')));
    expect(problems).toContain('found');
    expect(problems).toContain('names no item of the run');
    if (which === 'all items') expect(problems).toContain('names several items: use section and order_index');
  },
  120_000,
);
