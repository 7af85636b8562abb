import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importItems, metaOf, writeSections } from '../../../test/store/import-items.ts';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { throughLine } from '../../../test/store/server-address.ts';
import { streamItems } from '../../../test/store/stream-items.ts';
import { startTcpProxy, type TcpProxy } from '../../../test/store/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { createStore, type Store } from '../create-store.ts';
import type { ImportedRun } from '../runs/write/insert-imported-run.ts';
import type { ImportedResult } from '../runs/write/insert-results.ts';

let database: TestDatabase;
let line: TcpProxy;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  line = await startTcpProxy(database.url);
  store = createStore({ url: throughLine(database.url, line), poolSize: 4 });
  await names();
});
beforeEach(() => {
  line.loseResponseTo = null;
});
afterAll(async () => {
  await store.close();
  await line[Symbol.asyncDispose]();
  await database.drop();
});

const names = async (): Promise<string[]> =>
  (await store.datasets.list({ limit: 100 })).data.map(({ name }) => name);

describe('a line that breaks at the end of an import', () => {
  const lines = ['{"id":1}'];

  it('after the commit: the dataset is there', async () => {
    line.loseResponseTo = 'COMMIT';
    const dataset = await importItems(store.datasets, { a: lines }, { name: 'kept' });
    line.loseResponseTo = null;
    expect(await store.datasets.get(dataset.id)).toEqual(dataset);
    expect(await names()).toEqual(['kept']);
    await store.datasets.delete(dataset.id);
  });

  it('before its statements arrive: nothing is', async () => {
    line.line = 'stalls';
    const failed = importItems(store.datasets, { a: lines }, { name: 'lost' });
    setTimeout(() => {
      line.cut();
      line.line = 'passes';
    }, 100);
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    expect(await names()).toEqual([]);
  });

  it('before the commit of a transaction: nothing is', async () => {
    line.loseResponseTo = 'INSERT INTO sections';
    const failed = importItems(store.datasets, { a: lines }, { name: 'lost' });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    line.loseResponseTo = null;
    expect(await names()).toEqual([]);
  });

  it('and stays broken after the commit: the import fails, after a short time', async () => {
    line.loseResponseTo = 'COMMIT';
    const { target } = line;
    const failed = importItems(store.datasets, { a: lines }, { name: 'unknown' });
    line.target = null;
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    line.target = target;
  });
});

describe('a run in an import', () => {
  const run: ImportedRun = {
    ...{ bar: null, verdict: null, barHash: null, runHash: null, scoring: null },
    id: null,
    name: 'r',
    status: 'completed',
    error: null,
    datasetVersionHash: null,
    startedAt: null,
    finishedAt: null,
    config: { repetitions: 1 },
    repetitions: 1,
    total: null,
  };
  const result = (orderIndex: number, score: number | null): ImportedResult => ({
    section: 'a',
    sectionOrderIndex: 0,
    orderIndex,
    repetition: 1,
    itemId: String(orderIndex),
    status: score === null ? 'unscored' : 'ok',
    output: '"out"',
    reasoning: null,
    score,
    passed: score === null ? null : score === 1,
    explanation: null,
    error: null,
    latencyMs: 1.5,
    usage: null,
    ...{
      judgeUsage: null,
      judgeCost: null,
      finishReason: null,
      attempts: null,
      omittedAssets: null,
      scoredBy: null,
      scores: null,
      traceId: null,
      redacted: 0,
    },
    ...{ reused: false, usageReused: null },
    errorGroup: null,
    scored: {},
    tokens: { model: { input: null, output: null }, judge: { input: null, output: null } },
  });
  const sections = { a: ['{"id":0}', '{"id":1}', '{"id":2}'] };

  it('has finished, is counted, and is never queued', async () => {
    await using draft = await store.datasets.begin({});
    await writeSections(draft, sections);
    const results = batches([result(0, 1), result(1, 0.5)], [result(2, null)]);
    const dataset = metaOf({ name: 'with a run' });
    const stored = await draft.commit({ dataset, run: { facts: run, results } });
    const { id, versionHash } = stored.dataset;
    const { data } = await store.runs.list({ limit: 10, datasetId: id });
    expect(data).toMatchObject([
      {
        imported: true,
        name: 'r',
        status: 'completed',
        datasetVersionHash: versionHash,
        counts: { total: 3, done: 3, ok: 2, failed: 0, unscored: 1 },
        scores: { mean: 0.75, passed: 1, passRate: 0.5 },
        startedAt: null,
        finishedAt: expect.any(Date),
      },
    ]);
    expect(await queryDatabase(database.url, 'SELECT 1 FROM runs WHERE finished_at IS NULL')).toEqual([]);
    await store.datasets.delete(id);
    await store.runs.collect();
    expect(await queryDatabase(database.url, 'SELECT 1 FROM run_results')).toEqual([]);
  });

  it('whose connection is killed leaves nothing', async () => {
    const before = await names();
    const importing = async (): Promise<void> => {
      await using draft = await store.datasets.begin({});
      await writeSections(draft, sections);
      async function* killing(): AsyncGenerator<readonly ImportedResult[]> {
        yield [result(0, 1)];
        await queryDatabase(
          database.url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE state = 'idle in transaction' AND datname = current_database()`,
        );
        yield [result(1, 1)];
      }
      const dataset = metaOf({ name: 'killed' });
      await draft.commit({ dataset, run: { facts: run, results: killing() } });
    };
    await expect(importing()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await names()).toEqual(before);
    expect(await queryDatabase(database.url, 'SELECT 1 FROM runs')).toEqual([]);
    expect(await queryDatabase(database.url, 'SELECT 1 FROM run_results')).toEqual([]);
  });
});

async function* batches(
  ...all: readonly (readonly ImportedResult[])[]
): AsyncGenerator<readonly ImportedResult[]> {
  yield* all;
}

it('stores a long section in parts of 65,536 items, and reads it as one', async () => {
  const lines = Array.from({ length: 66_000 }, (_, id) => `{"id":${id}}`);
  const { id } = await importItems(store.datasets, { short: ['{"id":-1}'], long: lines });
  const [row] = (await queryDatabase(
    database.url,
    `SELECT array_agg(count ORDER BY count) AS counts FROM (
       SELECT count(*)::int FROM items WHERE part_id IN (SELECT id FROM parts WHERE dataset_id = '${id}') GROUP BY part_id) AS part`,
  )) as { readonly counts: readonly number[] }[];
  const counts = row?.counts ?? [];
  expect(counts).toHaveLength(3);
  expect(Math.max(...counts)).toBeLessThanOrEqual(65_536);
  expect(counts.reduce((sum, count) => sum + count)).toBe(66_001);

  let next = 0;
  for await (const items of streamItems(store.datasets, id, 'long')) {
    for (const { orderIndex, payload } of items) {
      if (orderIndex !== next || payload !== lines[next]) throw new Error(`item ${next} is ${payload}`);
      next += 1;
    }
  }
  expect(next).toBe(66_000);
  const [first = 0] = counts.toReversed();
  for (const from of [0, first - 3, 65_996]) {
    const page = await store.datasets.listItems(id, { from: [1, from], limit: 5 });
    page.release();
    const wanted = lines.slice(from, from + 5);
    expect(page.data.map(({ payload }) => payload)).toEqual(wanted);
    expect(page.totalItems).toBe(66_001);
  }
});
