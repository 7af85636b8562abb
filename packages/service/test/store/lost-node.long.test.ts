import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { createPool } from '../../src/store/postgres/pool.ts';
import type { TakenRun } from '../../src/store/runs/run-session.ts';
import { claimTask } from './claim-task.ts';
import { importItems } from './import-items.ts';
import { refuseCommits } from './refuse-commits.ts';
import { resultOf } from './result-of.ts';
import { createTestDatabase } from './template-db.ts';

const isCitus = (process.env['TEST_CITUS_URL'] ?? '') !== '';

let cleanUp: AsyncDisposableStack;
let url: string;
let store: Store;
let plain: pg.Pool;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  const database = await createTestDatabase();
  cleanUp.defer(() => database.drop());
  url = database.url;
  store = cleanUp.use(createStore({ url, poolSize: 4 }));
  plain = createPool({ url, size: 1 });
  cleanUp.defer(() => plain.end());
});
afterAll(() => cleanUp.disposeAsync());

const countOf = async (table: string): Promise<number> =>
  (await plain.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

/** A run of two items, as a worker has it. */
async function startRun(): Promise<TakenRun & { readonly id: string }> {
  const { id: datasetId } = await importItems(store.datasets, { s: ['{"id":0}', '{"id":1}'] });
  const facts = { name: null, config: '{}', repetitions: 1, requestId: null };
  const { id } = await store.runs.create({ ...facts, id: randomUUID(), datasetId });
  const taken = (await store.runs.take(await claimTask(plain, 'runs', id))) as TakenRun;
  return { ...taken, id };
}

async function resultsOf({ session }: TakenRun): Promise<ReturnType<typeof resultOf>[]> {
  const items = await Array.fromAsync(session.items(new AbortController().signal));
  return items.map((item) => resultOf(item));
}

describe.skipIf(!isCitus)(
  'a node that is lost at a commit (needs TEST_CITUS_URL, and the role postgres on its nodes)',
  () => {
    it('stores nothing of an import to it', async () => {
      {
        await using _ = await refuseCommits(url, 'items');
        await expect(importItems(store.datasets, { s: ['{"id":1}'] })).rejects.toThrow();
      }
      expect(await Promise.all(['datasets', 'parts', 'items'].map(countOf))).toEqual([0, 0, 0]);
    });

    it('counts no results that are not stored', async () => {
      const run = await startRun();
      const results = await resultsOf(run);
      {
        await using _ = await refuseCommits(url, 'run_results');
        await expect(run.session.saveResults(results)).rejects.toThrow();
      }
      expect((await store.runs.get(run.id)).counts).toMatchObject({ done: 0 });
      await run.session.saveResults(results);
      expect((await store.runs.get(run.id)).counts).toMatchObject({ done: 2 });
      expect(await countOf('run_results')).toBe(2);
    });

    it('keeps the note of deleted items until they are removed', async () => {
      const { id } = await importItems(store.datasets, { s: ['{"id":2}', '{"id":3}'] });
      const before = await countOf('items');
      await store.datasets.delete(id);
      {
        await using _ = await refuseCommits(url, 'items');
        await expect(store.datasets.collect()).rejects.toThrow();
      }
      expect(await countOf('items')).toBe(before);
      await store.datasets.collect();
      expect(await countOf('items')).toBe(before - 2);
    });
  },
);

it('stores no scores of a run while a node does not show all of its results', async () => {
  const run = await startRun();
  const other = await startRun();
  for (const one of [run, other]) await one.session.saveResults(await resultsOf(one));
  await other.session.finish({ status: 'completed' });
  // as a node does that has prepared a commit: the rows come back
  const key = 'run_id = $1 AND section_order_index = 0 AND order_index = 1';
  await plain.query(
    `CREATE TEMP TABLE kept AS SELECT * FROM run_results WHERE ${key.replace('$1', `'${run.id}'`)}`,
  );
  await plain.query(`DELETE FROM run_results WHERE ${key}`, [run.id]);

  const refusal = {
    code: 'unavailable',
    message: expect.stringMatching(/a node of the database shows 1 of 2\.$/),
  };
  await expect(run.session.finish({ status: 'completed' })).rejects.toMatchObject(refusal);
  await expect(store.runs.summarize(run.id)).rejects.toMatchObject(refusal);
  await expect(store.runs.compare(run.id, other.id, { limit: 1 })).rejects.toMatchObject(refusal);
  expect(await store.runs.get(run.id)).toMatchObject({ status: 'running' });

  await plain.query('INSERT INTO run_results SELECT * FROM kept');
  await run.session.finish({ status: 'completed' });
  expect(await store.runs.get(run.id)).toMatchObject({ status: 'completed', scores: { passed: 2 } });
});
