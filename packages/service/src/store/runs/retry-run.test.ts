import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importItems } from '../../../test/store/import-items.ts';
import { queryDatabase } from '../../../test/store/query-database.ts';
import { resultOf } from '../../../test/store/result-of.ts';
import { createTestDatabase } from '../../../test/store/template-db.ts';
import type { RunItem, RunResult } from '../../evaluation/index.ts';
import { createStore, type Store } from '../create-store.ts';
import { openTaskQueue, type TaskQueue } from '../queue/task-queue.ts';
import type { Run } from './run-row.ts';
import type { TakenRun } from './run-session.ts';

const CONFIG = '{"provider":"echo"}';
let cleanUp: AsyncDisposableStack;
let url: string;
let store: Store;
let queue: TaskQueue;
let run: Run;
const ITEMS = 40;

beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  const database = await createTestDatabase();
  cleanUp.defer(() => database.drop());
  url = database.url;
  store = cleanUp.use(createStore({ url, poolSize: 4 }));
  queue = openTaskQueue(url);
  cleanUp.defer(() => queue.close());
  const texts = Array.from(
    { length: ITEMS },
    (_, index) => `{"id":${index},"tags":["t${index % 2}"],"type":"exact"}`,
  );
  const { id: datasetId } = await importItems(store.datasets, { s: texts });
  const facts = { name: null, config: CONFIG, repetitions: 1, requestId: null };
  run = await store.runs.create({ ...facts, id: randomUUID(), datasetId });
});
afterEach(() => cleanUp.disposeAsync());

const signal = new AbortController().signal;

async function take(id: string): Promise<TakenRun> {
  await queryDatabase(
    url,
    "UPDATE runs SET lease_expires_at = now() - interval '1 second' WHERE finished_at IS NULL",
  );
  const claims = await queue.claim('runs', 9, true);
  const claim = claims.find((task) => task.claim.id === id)?.claim;
  return (await store.runs.take(claim as NonNullable<typeof claim>)) as TakenRun;
}

const FAILED: Partial<RunResult> = {
  ...{ status: 'failed', output: null, score: null, passed: null, usage: null, finishReason: null },
  error: { code: 'provider_unavailable', message: 'no' },
};

async function counts(id: string): Promise<unknown> {
  const [row] = await queryDatabase(
    url,
    `SELECT count(*)::int AS results, count(DISTINCT order_index)::int AS items, count(*) FILTER (WHERE status = 'ok')::int AS ok,
       sum(output_tokens)::int AS tokens FROM run_results WHERE run_id = $1`,
    [id],
  );
  return row;
}

it('replaces each failed result once, whatever happens to its workers', async () => {
  const first = await take(run.id);
  const items = await Array.fromAsync(first.session.items(signal));
  await first.session.saveResults(
    items.map((item) => resultOf(item, item.orderIndex % 4 === 0 ? FAILED : {})),
  );
  await first.session.finish({ status: 'completed' });
  const { scores, summaryScores } = await store.runs.get(run.id);
  expect(scores).toMatchObject({ passed: 30, passRate: 0.75 });
  expect(JSON.parse(summaryScores ?? '')).toMatchObject({ stderr: 0 });

  await store.runs.retry(run.id, 'failed');
  expect(await store.runs.get(run.id)).toMatchObject({
    status: 'queued',
    counts: { done: ITEMS, failed: 10 },
  });
  const dead = await take(run.id);
  const toDo = await Array.fromAsync(dead.session.items(signal));
  expect(toDo.map(({ orderIndex }) => orderIndex)).toEqual([0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
  await dead.session.saveResults(toDo.slice(0, 3).map((item) => resultOf(item)));
  expect(await counts(run.id)).toEqual({ results: ITEMS, items: ITEMS, ok: 33, tokens: 99 });
  expect(await store.runs.get(run.id)).toMatchObject({ counts: { ok: 33, failed: 7 }, resultsLeft: 7 });

  // another worker continues; what the first one still writes is refused
  const second = await take(run.id);
  await expect(
    dead.session.saveResults(toDo.slice(3, 5).map((item) => resultOf(item))),
  ).rejects.toMatchObject({
    code: 'superseded',
  });
  const left = await Array.fromAsync(second.session.items(signal));
  expect(left.map(({ orderIndex }) => orderIndex)).toEqual([12, 16, 20, 24, 28, 32, 36]);
  // a connection that breaks leaves all or none of a batch
  await queryDatabase(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()',
  );
  const again = left.map((item) => resultOf(item, item.orderIndex === 36 ? FAILED : {}));
  await expect
    .poll(() =>
      second.session.saveResults(again).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await second.session.saveResults(again);
  await second.session.finish({ status: 'completed' });
  expect(await counts(run.id)).toEqual({ results: ITEMS, items: ITEMS, ok: 39, tokens: 117 });
  const ended = await store.runs.get(run.id);
  expect(ended).toMatchObject({
    ...{ counts: { total: ITEMS, done: ITEMS, ok: 39, failed: 1 }, retries: 1, resultsLeft: 0 },
    usage: { inputTokens: 78, outputTokens: 117 },
  });
  expect(await store.runs.summarize(run.id)).toMatchObject({
    scores: { ok: 39, failed: 1, pass_rate: 39 / 40, pass_rate_scored: 1 },
    parts: { by_tag: { t0: { results: 20 }, t1: { results: 20, passed: 20 } } },
  });
});

it('does outputs again that were cut off, and no others', async () => {
  const first = await take(run.id);
  const items = await Array.fromAsync(first.session.items(signal));
  await first.session.saveResults(
    items.map((item) => resultOf(item, item.orderIndex % 10 === 3 ? { finishReason: 'length' } : {})),
  );
  await first.session.finish({ status: 'completed' });
  await store.runs.retry(run.id, 'truncated');
  const second = await take(run.id);
  const left = await Array.fromAsync(second.session.items(signal));
  expect(left.map(({ orderIndex }) => orderIndex)).toEqual([3, 13, 23, 33]);
  await second.session.saveResults(left.map((item) => resultOf(item)));
  await second.session.finish({ status: 'completed' });
  expect(await store.runs.get(run.id)).toMatchObject({ counts: { ok: ITEMS, truncated: 0 } });
});

it('scores each stored output again once, and protects its source', async () => {
  const first = await take(run.id);
  const items = await Array.fromAsync(first.session.items(signal));
  await first.session.saveResults(items.map((item) => resultOf(item, item.orderIndex === 7 ? FAILED : {})));
  const facts = {
    id: randomUUID(),
    name: null,
    config: CONFIG,
    repetitions: 1,
    requestId: null,
  };
  const rescore = { ...facts, datasetId: run.datasetId, sourceRunId: run.id };
  await expect(store.runs.create(rescore)).rejects.toMatchObject({ code: 'run_active' });
  await first.session.finish({ status: 'completed' });

  const again = await store.runs.create(rescore);
  expect(again).toMatchObject({ counts: { total: ITEMS }, sourceRunId: run.id });
  await expect(store.runs.delete(run.id)).rejects.toMatchObject({ code: 'run_active' });
  await expect(store.runs.retry(run.id, 'failed')).rejects.toMatchObject({ code: 'run_active' });
  const dead = await take(again.id);
  const outputs = await Array.fromAsync(dead.session.items(signal));
  expect(outputs).toHaveLength(ITEMS);
  expect(outputs[7]?.outputs).toMatchObject([{ output: null, failure: { code: 'provider_unavailable' } }]);
  expect(outputs[8]?.outputs).toMatchObject([{ output: 'new', failure: null, finishReason: 'stop' }]);
  await dead.session.saveResults(
    outputs.slice(0, 15).map((item) => resultOf(item, { score: 0, passed: false })),
  );
  const second = await take(again.id);
  const left = await Array.fromAsync(second.session.items(signal));
  expect(left.map(({ orderIndex }) => orderIndex)).toEqual(
    items.slice(15).map(({ orderIndex }) => orderIndex),
  );
  await second.session.saveResults(left.map((item) => resultOf(item, { score: 0, passed: false })));
  await second.session.finish({ status: 'completed' });
  expect(await counts(again.id)).toMatchObject({ results: ITEMS, items: ITEMS });

  const { scores, totalItems, data } = await store.runs.compare(run.id, again.id, {
    limit: 2,
    only: 'regressions',
  });
  expect(scores).toMatchObject({ paired: 39, mean_difference: -1, stderr: 0, wins: 0, losses: 39, ties: 0 });
  expect(scores.p_value).toBeCloseTo(2 ** -38, 20);
  expect(totalItems).toBe(39);
  expect(data).toMatchObject([{ itemId: '0', score: 1, otherScore: 0 }, { itemId: '1' }]);
  await store.runs.delete(run.id);
  await expect(store.runs.get(run.id)).rejects.toMatchObject({ code: 'run_not_found' });
});

it('scores what its source has got since, and says when that has gone', async () => {
  const first = await take(run.id);
  const items = await Array.fromAsync(first.session.items(signal));
  await first.session.saveResults(items.slice(0, 5).map((item) => resultOf(item)));
  await first.session.finish({ status: 'cancelled' });
  const facts = { id: randomUUID(), name: null, config: CONFIG, repetitions: 1, requestId: null };
  const again = await store.runs.create({ ...facts, datasetId: run.datasetId, sourceRunId: run.id });
  const scorer = await take(again.id);
  const outputs = await Array.fromAsync(scorer.session.items(signal));
  await scorer.session.saveResults(
    outputs.map((item) => resultOf(item, item.orderIndex === 2 ? FAILED : {})),
  );
  await scorer.session.finish({ status: 'completed' });

  await store.runs.retry(run.id, 'missing');
  await expect(store.runs.retry(again.id, 'failed')).rejects.toMatchObject({ code: 'run_active' });
  const second = await take(run.id);
  await second.session.saveResults(items.slice(5, 9).map((item) => resultOf(item)));
  await second.session.finish({ status: 'cancelled' });
  expect(await store.runs.retry(again.id, 'failed')).toMatchObject({ counts: { total: 9 }, resultsLeft: 5 });
  const last = await take(again.id);
  const left = await Array.fromAsync(last.session.items(signal));
  expect(left.map(({ orderIndex }) => orderIndex)).toEqual([2, 5, 6, 7, 8]);
  await last.session.saveResults(left.slice(0, 2).map((item) => resultOf(item)));
  await last.session.finish({ status: 'cancelled' });
  expect(await store.runs.get(again.id)).toMatchObject({ counts: { total: 9, done: 6 } });

  await store.runs.delete(run.id);
  await expect(store.runs.retry(again.id, 'missing')).rejects.toMatchObject({
    code: 'nothing_to_retry',
    message: expect.stringContaining('was deleted'),
  });
});

it('adds scorers to a run whose worker dies, each output once, and keeps its status and main score', async () => {
  const first = await take(run.id);
  const items = await Array.fromAsync(first.session.items(signal));
  const lost = { code: 'provider_unavailable', message: 'gone' };
  await first.session.saveResults(
    items.slice(0, 30).map((item) => resultOf(item, item.orderIndex === 7 ? FAILED : {})),
  );
  const addition = {
    config: '{"added_scorers":[{"name":"short"},{"name":"kind"}],"provider":"echo"}',
    before: CONFIG,
    names: ['short', 'kind'],
  };
  await expect(store.runs.addScorers(run.id, addition)).rejects.toMatchObject({ code: 'run_active' });
  await first.session.finish({ status: 'failed', error: lost });

  const adding = await store.runs.addScorers(run.id, addition);
  expect(adding).toMatchObject({ status: 'queued', error: null, finishedAt: null, resultsLeft: 29 });
  const scored = (item: RunItem, usage: number): RunResult =>
    resultOf(item, {
      ...{ output: 'other', score: 0, passed: false, status: 'failed' },
      judgeUsage: { prompt_tokens: usage, completion_tokens: 1 },
      scores: {
        short: { score: 0.5, passed: true, explanation: null, scored_by: 'checker' },
        kind: { score: null, passed: null, explanation: null, scored_by: null },
      },
    });
  const dead = await take(run.id);
  expect(dead.session.scorers).toEqual(['short', 'kind']);
  const outputs = await Array.fromAsync(dead.session.items(signal));
  expect(outputs).toHaveLength(29);
  expect(outputs[7]?.outputs).toMatchObject([{ output: 'new', failure: null }]);
  await dead.session.saveResults(outputs.slice(0, 12).map((item) => scored(item, 2)));
  // ended early, it continues with the same scorers
  await dead.session.finish({ status: 'failed', error: { code: 'provider_rejected', message: 'no' } });
  const taken = { ...addition, config: CONFIG, before: addition.config };
  await expect(store.runs.addScorers(run.id, taken)).rejects.toMatchObject({ code: 'scorer_exists' });
  const same = { ...addition, before: addition.config };
  expect(await store.runs.addScorers(run.id, same)).toMatchObject({ resultsLeft: 17 });

  const killed = await take(run.id);
  const [next] = await Array.fromAsync(killed.session.items(signal));
  await killed.session.saveResults([scored(next as RunItem, 2)]);
  const last = await take(run.id);
  await expect(killed.session.saveResults([scored(next as RunItem, 2)])).rejects.toMatchObject({
    code: 'superseded',
  });
  const left = await Array.fromAsync(last.session.items(signal));
  expect(left).toHaveLength(16);
  await last.session.saveResults(left.map((item) => scored(item, 2)));
  await last.session.finish({ status: 'completed' });

  expect(await store.runs.get(run.id)).toMatchObject({
    ...{ status: 'failed', resultsLeft: 0, addingScorers: null },
    counts: { done: 30, ok: 29, failed: 1 },
    scores: { mean: 1, passed: 29 },
    usage: { inputTokens: 58, judgeInputTokens: 58, judgeOutputTokens: 29 },
  });
  expect(JSON.parse((await store.runs.get(run.id)).error ?? '')).toEqual(lost);
  await expect(store.runs.addScorers(run.id, same)).rejects.toMatchObject({ code: 'scorer_exists' });
  const many = { ...addition, before: addition.config, config: '{"provider":"echo","repetitions":1}' };
  const names = Array.from({ length: 15 }, (_, index) => `s${index}`);
  await expect(store.runs.addScorers(run.id, { ...many, names })).rejects.toMatchObject({
    code: 'too_many_scorers',
  });
});
