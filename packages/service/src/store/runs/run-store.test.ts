import { randomUUID } from 'node:crypto';
import { type ItemParts, joinItem } from '@svc/jsonl-v23';
import { ExactNumber } from '@svc/jsonl-v23/json';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allPages } from '../../../test/store/all-pages.ts';
import { claimTask } from '../../../test/store/claim-task.ts';
import { importItems, metaOf, writeSections } from '../../../test/store/import-items.ts';
import { lockTable } from '../../../test/store/lock-table.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import type { RunItem, RunResult } from '../../evaluation/index.ts';
import { createStore, type Store } from '../create-store.ts';
import { listen } from '../postgres/listen.ts';
import type { ResultsRequest } from './results/list-results.ts';
import type { Run } from './run-row.ts';
import type { TakenRun } from './run-session.ts';

let database: TestDatabase;
let store: Store;
let plain: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 8 });
  plain = new pg.Pool({ connectionString: database.url });
});
afterAll(async () => {
  await store.close();
  await plain.end();
  await database.drop();
});

const takeRun = async (id: string): Promise<TakenRun | null> =>
  store.runs.take(await claimTask(plain, 'runs', id));

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `{"id":${index}}`);

/** Statements that name a table and wait for a lock. */
async function waitingFor(table: string): Promise<number> {
  const { rows } = await plain.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND position($1 IN query) > 0 AND pid <> pg_backend_pid()`,
    [table],
  );
  return rows.length;
}

async function createRun(items: Record<string, string[]>, repetitions = 1): Promise<Run> {
  const dataset = await importItems(store.datasets, items);
  return await store.runs.create({
    id: randomUUID(),
    datasetId: dataset.id,
    name: 'a run',
    config: '{"provider":{"type":"echo"},"n":1e400}',
    repetitions,
    requestId: 'request-1',
  });
}

const result = (orderIndex: number, facts: Partial<RunResult> = {}): RunResult => ({
  section: 's',
  sectionOrderIndex: 0,
  orderIndex,
  itemId: null,
  repetition: 1,
  status: 'ok',
  output: 'out',
  score: 1,
  passed: true,
  explanation: null,
  error: null,
  latencyMs: 1.5,
  ...{
    judgeUsage: null,
    judgeCost: null,
    finishReason: null,
    attempts: null,
    omittedAssets: null,
    reasoning: null,
    scoredBy: null,
    scores: null,
    traceId: null,
    redacted: 0,
  },
  ...{ reused: false, usageReused: null },
  usage: null,
  ...facts,
});

async function itemsOf(items: AsyncIterable<RunItem>): Promise<RunItem[]> {
  return await Array.fromAsync(items);
}
const signal = new AbortController().signal;

describe('create', () => {
  it('stores a run and its task together', async () => {
    const run = await createRun({ s: texts(3), t: texts(2) }, 2);
    expect(run).toMatchObject({
      name: 'a run',
      status: 'queued',
      config: '{"provider":{"type":"echo"},"n":1e400}',
      repetitions: 2,
      counts: { total: 10, done: 0, ok: 0, failed: 0, unscored: 0 },
      scores: { mean: null, passed: 0, passRate: null },
      error: null,
      requestId: 'request-1',
      startedAt: null,
      finishedAt: null,
    });
    expect(run.datasetVersionHash).toBe((await store.datasets.get(run.datasetId)).versionHash);
    const { rows } = await plain.query('SELECT lease_expires_at, available_at FROM runs WHERE id = $1', [
      run.id,
    ]);
    expect(rows).toEqual([{ lease_expires_at: null, available_at: expect.any(Date) }]);
    expect(await store.runs.get(run.id)).toEqual(run);
  });

  it.each([randomUUID(), 'no uuid'])(
    'names a dataset that is not there, and enqueues nothing: %s',
    async (datasetId) => {
      const id = randomUUID();
      await expect(
        store.runs.create({ id, datasetId, name: null, config: '{}', repetitions: 1, requestId: null }),
      ).rejects.toMatchObject({ code: 'dataset_not_found' });
      expect((await plain.query('SELECT FROM runs WHERE id = $1', [id])).rowCount).toBe(0);
    },
  );

  it.each(['no uuid', randomUUID()])('get and requestCancel name a run that is not there: %s', async (id) => {
    await expect(store.runs.get(id)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(store.runs.requestCancel(id)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(store.runs.listResults(id, { limit: 1 })).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

describe('list', () => {
  it('keeps the version that it has from being deleted without its runs', async () => {
    const { id: datasetId } = await importItems(store.datasets, { s: texts(3) });
    const change = { datasetId, mode: 'append' } as const;
    await using draft = await store.datasets.begin({ target: { kind: 'version', change } });
    await writeSections(draft, { s: ['{"id":9}'] });
    await draft.commit({ dataset: metaOf() });
    const remove = (): Promise<void> => store.datasets.deleteVersion(datasetId, 1, { withRuns: false });
    const facts = { datasetId, name: null, config: '{}', repetitions: 1, requestId: null };
    const lock = await lockTable(database.url, 'run_items', 'SHARE');
    const selected = { ...facts, id: randomUUID(), selection: { limit: 2 }, version: 1 };
    const created = store.runs.create(selected);
    await expect.poll(() => waitingFor('run_items')).toBe(1);
    const removed = remove().catch((error: unknown) => error);
    await expect.poll(() => waitingFor('datasets')).toBe(1);
    await lock[Symbol.asyncDispose]();
    expect(await created).toMatchObject({ datasetVersion: 1, counts: { total: 2 } });
    expect(await removed).toMatchObject({ code: 'version_has_runs' });
    expect(await store.runs.get(selected.id)).toMatchObject({ status: 'queued' });
  });

  it('is not seen as a run of its version where it is a trial', async () => {
    const { id: datasetId } = await importItems(store.datasets, { s: texts(1) });
    const facts = { datasetId, name: null, config: '{}', repetitions: 1, requestId: null };
    const [trial, shown] = [randomUUID(), randomUUID()];
    await store.runs.create({ ...facts, id: trial, isTrial: true });
    const { data } = await store.datasets.listVersions(datasetId, { limit: 1 });
    expect(data).toMatchObject([{ runCount: 0 }]);
    await store.runs.create({ ...facts, id: shown });
    for (const id of [trial, shown]) await store.runs.deleteTrial(id);
    await expect(store.runs.get(trial)).rejects.toMatchObject({ code: 'run_not_found' });
    expect(await store.runs.get(shown)).toMatchObject({ status: 'queued' });
  });

  it('has the scores of a run that has ended, also when somebody asked for them before', async () => {
    const run = await createRun({ s: texts(3) });
    const taken = await takeRun(run.id);
    await taken?.session.saveResults([result(0, { score: 0, passed: false })]);
    await store.runs.summarize(run.id);
    await plain.query('UPDATE runs SET summary_ms = 1000000 WHERE id = $1', [run.id]);
    await taken?.session.saveResults([result(1), result(2)]);
    await taken?.session.finish({ status: 'cancelled' });
    const { data } = await store.runs.list({ limit: 1, datasetId: run.datasetId });
    expect(data[0]?.scores).toMatchObject({ mean: 2 / 3 });
    expect(JSON.parse(data[0]?.summaryScores ?? '')).toMatchObject({ stderr: expect.closeTo(1 / 3, 12) });
  });

  it('gives the newest first however quickly they were made', async () => {
    const { id: datasetId } = await importItems(store.datasets, {});
    const made: string[] = [];
    for (let index = 0; index < 200; index += 1) {
      const run = { name: null, config: '{}', repetitions: 1, requestId: null };
      made.push((await store.runs.create({ id: randomUUID(), datasetId, ...run })).id);
    }
    const found = await allPages((cursor) => store.runs.list({ limit: 7, datasetId, cursor }));
    expect(found.map(({ id }) => id)).toEqual(made.toReversed());
  });

  it('gives the newest first, by dataset and status', async () => {
    const first = await createRun({ s: texts(1) });
    const ids = [first.id];
    for (let round = 0; round < 4; round++) {
      const run = { id: randomUUID(), datasetId: first.datasetId, config: '{}', repetitions: 1 };
      const { id } = await store.runs.create(run);
      ids.unshift(id);
    }
    await store.runs.requestCancel(ids[1]!);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.runs.list({ limit: 2, datasetId: first.datasetId, cursor });
      expect(page.totalItems).toBe(5);
      found.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(ids);
    const { data } = await store.runs.list({ limit: 9, datasetId: first.datasetId, status: 'cancelled' });
    expect(data.map(({ id }) => id)).toEqual([ids[1]]);
    expect((await store.runs.list({ limit: 9, datasetId: 'no uuid' })).data).toEqual([]);
    await expect(store.runs.list({ limit: 1, cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
  });
});

describe('a run in the hands of a worker', () => {
  it('reads items, writes results, counts and ends', async () => {
    const run = await createRun({ s: ['{"id":1}', '{"answer":9007199254740993}'], t: ['{"type":"x"}'] });
    const taken = await takeRun(run.id);
    expect(taken?.run.status).toBe('running');
    expect(taken?.run.startedAt).toBeInstanceOf(Date);
    const items = await itemsOf(taken!.session.items(signal));
    expect(
      items.map(({ section, orderIndex, parts }) => [section, orderIndex, joinItem(parts as ItemParts)]),
    ).toEqual([
      ['s', 0, '{"id":1}'],
      ['s', 1, '{"answer":9007199254740993}'],
      ['t', 0, '{"type":"x"}'],
    ]);
    await taken!.session.saveResults([
      result(0, {
        score: 0.5,
        passed: false,
        itemId: 1,
        usage: { prompt_tokens: new ExactNumber('12345678901234567890') },
      }),
      result(1, {
        status: 'failed',
        score: null,
        passed: null,
        output: null,
        error: { code: 'provider_failed', message: 'no' } as never,
      }),
    ]);
    await taken!.session.saveResults([
      result(0, {
        section: 't',
        sectionOrderIndex: 1,
        status: 'unscored',
        score: null,
        passed: null,
        output: 'a\0b\ud800',
        explanation: '\0',
      }),
    ]);
    await taken!.session.finish({ status: 'completed' });
    expect(await store.runs.get(run.id)).toMatchObject({
      status: 'completed',
      counts: { total: 3, done: 3, ok: 1, failed: 1, unscored: 1 },
      scores: { mean: 0.5, passed: 0, passRate: 0 },
      finishedAt: expect.any(Date),
    });
    const { data, totalItems } = await store.runs.listResults(run.id, { limit: 10 });
    expect(totalItems).toBe(3);
    expect(data).toEqual([
      {
        section: 's',
        sectionOrderIndex: 0,
        orderIndex: 0,
        repetition: 1,
        itemId: '1',
        status: 'ok',
        output: '"out"',
        score: 0.5,
        passed: false,
        explanation: null,
        error: null,
        latencyMs: 1.5,
        ...{
          judgeUsage: null,
          judgeCost: null,
          finishReason: null,
          attempts: null,
          omittedAssets: null,
          reasoning: null,
          scoredBy: null,
          scores: null,
          traceId: null,
          redacted: 0,
          truncated: false,
        },
        ...{ reused: false, usageReused: null },
        ...{ cost: null, sortValue: null },
        ...{ labels: [], outputHash: expect.any(Uint8Array) },
        itemHash: expect.any(Uint8Array),
        usage: '{"prompt_tokens":12345678901234567890}',
        isTooLarge: false,
      },
      expect.objectContaining({
        orderIndex: 1,
        output: null,
        error: '{"code":"provider_failed","message":"no"}',
      }),
      expect.objectContaining({
        section: 't',
        output: String.raw`"a\u0000b\ud800"`,
        explanation: String.raw`"\u0000"`,
      }),
    ]);
    expect(await takeRun(run.id)).toBeNull();
  });

  it('writes a result once, also when two workers write it', async () => {
    const run = await createRun({ s: texts(2) });
    const { session } = (await takeRun(run.id))!;
    await session.saveResults([result(0, { score: 1 })]);
    await session.saveResults([
      result(0, { score: 0, passed: false }),
      result(1, { score: 0, passed: false }),
    ]);
    const { counts, scores } = await store.runs.get(run.id);
    expect(counts).toMatchObject({ done: 2, ok: 2 });
    expect(scores).toMatchObject({ mean: 0.5, passed: 1, passRate: 0.5 });
  });

  it('writes results while the run is compared with others', async () => {
    const { id } = await createRun({ s: texts(1) });
    const taken = (await takeRun(id)) as TakenRun;
    const comparing = await plain.connect();
    try {
      await comparing.query('BEGIN');
      await comparing.query(
        `INSERT INTO run_comparisons (run_id, other_run_id, pair_by, comparison_of, summary) VALUES ($1, $1, 'hash', '', '')`,
        [id],
      );
      await taken.session.saveResults([result(0)]);
    } finally {
      await comparing.query('ROLLBACK');
      comparing.release();
    }
    expect(await store.runs.get(id)).toMatchObject({ counts: { done: 1 } });
  });

  it('passes an item where more than half of its repetitions passed, and compares by that', async () => {
    const runs: Run[] = [];
    for (const passedOnce of [false, true]) {
      const run = await createRun({ s: texts(6) }, 2);
      const taken = (await takeRun(run.id)) as TakenRun;
      const results = Array.from({ length: 6 }, (_, index) => [
        result(index, { score: 1, passed: true }),
        result(index, { repetition: 2, score: Number(passedOnce), passed: passedOnce }),
      ]);
      await taken.session.saveResults(results.flat());
      runs.push(run);
    }
    const [half, whole] = runs as [Run, Run];
    const { scores, data } = await store.runs.compare(half.id, whole.id, { limit: 1 });
    expect(data).toMatchObject([{ score: 0.5, otherScore: 1, passed: false, otherPassed: true }]);
    expect(scores.p_value).toBeCloseTo(2 ** -5, 12);
  });

  it('continues with what has no result, repetition by repetition', async () => {
    const run = await createRun({ s: texts(250), t: texts(3) }, 2);
    const first = (await takeRun(run.id))!;
    await first.session.saveResults([
      ...Array.from({ length: 100 }, (_, index) =>
        [1, 2].map((repetition) => result(index, { repetition })),
      ).flat(),
      result(200, { repetition: 2 }),
      result(1, { section: 't', sectionOrderIndex: 1 }),
    ]);
    const second = (await takeRun(run.id))!;
    const items = await itemsOf(second.session.items(signal));
    expect(items).toHaveLength(153);
    expect(items[0]).toMatchObject({ section: 's', orderIndex: 100, doneRepetitions: [] });
    const part = items.filter(({ doneRepetitions }) => doneRepetitions.length > 0);
    expect(
      part.map(({ section, orderIndex, doneRepetitions }) => [section, orderIndex, doneRepetitions]),
    ).toEqual([
      ['s', 200, [2]],
      ['t', 1, [1]],
    ]);
    expect(second.run.startedAt).toEqual(first.run.startedAt);
  });

  it('refuses a worker that was superseded', async () => {
    const run = await createRun({ s: texts(2) });
    const old = (await takeRun(run.id))!;
    const current = (await takeRun(run.id))!;
    await expect(old.session.saveResults([result(0)])).rejects.toMatchObject({ code: 'superseded' });
    await expect(old.session.finish({ status: 'completed' })).rejects.toMatchObject({ code: 'superseded' });
    await current.session.finish({
      status: 'failed',
      error: { code: 'provider_refused' as never, message: 'the key was refused' },
    });
    await expect(current.session.saveResults([result(0)])).rejects.toMatchObject({ code: 'run_finished' });
    expect(await store.runs.get(run.id)).toMatchObject({
      status: 'failed',
      error: '{"code":"provider_refused","message":"the key was refused"}',
      counts: { done: 0 },
    });
  });

  it('fails when its dataset was deleted', async () => {
    const run = await createRun({ s: texts(2) });
    const { session } = (await takeRun(run.id))!;
    await session.saveResults([result(0)]);
    await store.datasets.delete(run.datasetId);
    await expect(session.saveResults([result(1)])).rejects.toMatchObject({ code: 'run_not_found' });
    expect(await itemsOf(session.items(signal))).toEqual([]);
    expect(await takeRun(run.id)).toBeNull();
  });

  it('stops reading when it is aborted', async () => {
    const run = await createRun({ s: texts(5) });
    const { session } = (await takeRun(run.id))!;
    const abort = new AbortController();
    await expect(
      (async () => {
        for await (const _ of session.items(abort.signal)) abort.abort(new Error('drain'));
      })(),
    ).rejects.toThrow('drain');
  });

  it('lists the results between two scores, with those that have them', async () => {
    const run = await createRun({ s: texts(4) });
    const { session } = (await takeRun(run.id))!;
    await session.saveResults([0, 0.25, 0.5, 0.75].map((score, index) => result(index, { score })));
    const request = { limit: 10, min_score: 0.25, max_score: 0.5 };
    const page = await store.runs.listResults(run.id, request);
    page.release();
    expect(page.data.map(({ score }) => score)).toEqual([0.25, 0.5]);
  });

  it('pages through results, ending a page early when they are large', async () => {
    const run = await createRun({ s: texts(8) });
    const { session } = (await takeRun(run.id))!;
    const noise = (): string =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64');
    const output = Array.from({ length: 40 }, noise).join('');
    await session.saveResults(Array.from({ length: 8 }, (_, index) => result(index, { output })));
    const found: number[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await store.runs.listResults(run.id, { limit: 100, cursor });
      found.push(...page.data.map(({ orderIndex }) => orderIndex));
      cursor = page.nextCursor ?? undefined;
      pages++;
    } while (cursor !== undefined);
    expect(found).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(pages).toBeGreaterThan(1);
    await using open = await store.datasets.open(run.datasetId);
    expect((await Array.fromAsync(open.results(run.id))).flat()).toHaveLength(8);
  });

  it('finds the results that pass filters, wherever they are', async () => {
    const sections = { one: texts(1500), two: texts(3000), three: texts(100) };
    const run = await createRun(sections, 2);
    const { session } = (await takeRun(run.id))!;
    const outputOf = (number: number, section: string): string => {
      if (number % 1000 === 17) return `Ein ÜBLES Zeichen 漢 ${number}`;
      return section === 'three' && number % 40 === 1 ? 'back' : 'out';
    };
    const names = Object.keys(sections) as (keyof typeof sections)[];
    const all = names.flatMap((section, sectionOrderIndex) =>
      sections[section].flatMap((_, orderIndex) =>
        [1, 2].map((repetition) => {
          const number = orderIndex * 2 + repetition;
          const passed = number % 7 === 0;
          return result(orderIndex, {
            ...{ section, sectionOrderIndex, repetition, passed, score: Number(passed) },
            finishReason: number % 1999 === 5 ? 'length' : 'stop',
            output: outputOf(number, section),
          });
        }),
      ),
    );
    await session.saveResults(all);
    await session.finish({ status: 'completed' });
    const list = async (conditions: object, limit: number): Promise<[number, RunResult[]]> => {
      const found: RunResult[] = [];
      let total = -1;
      let cursor: string | undefined;
      do {
        const page = await store.runs.listResults(run.id, { ...conditions, limit, cursor });
        page.release();
        if (total !== -1) expect(page.totalItems).toBe(total);
        total = page.totalItems;
        found.push(...(page.data as unknown as RunResult[]));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return [total, found];
    };
    const cases: [object, number, (one: RunResult) => boolean][] = [
      [{ finish_reason: 'length' }, 2, ({ finishReason }) => finishReason === 'length'],
      [{ finish_reason: 'length', passed: false }, 1, (one) => one.finishReason === 'length' && !one.passed],
      [{ passed: true, section: 'two' }, 100, (one) => one.passed === true && one.section === 'two'],
      [{ q: 'üBLes' }, 3, ({ output }) => String(output).startsWith('Ein')],
      [
        { q: 'out', passed: true, section: 'two' },
        100,
        (one) => one.passed === true && one.section === 'two' && one.output === 'out',
      ],
      // a letter beyond ASCII whose lower case is ASCII: the Kelvin sign
      [
        { q: 'bac\u212a', section: 'three' },
        5,
        ({ output, section }) => section === 'three' && output === 'back',
      ],
      [{ q: 'ZEICHEN 漢', section: 'one' }, 1, (one) => one.output !== 'out' && one.section === 'one'],
      [{ section: 'none' }, 1, () => false],
      [{ finish_reason: 'other' }, 1, () => false],
      [{ status: 'failed', passed: true }, 1, () => false],
    ];
    for (const [conditions, limit, isWanted] of cases) {
      const wanted = all.filter(isWanted);
      const [total, found] = await list(conditions, limit);
      expect(total).toBe(wanted.length);
      const at = ({ sectionOrderIndex, orderIndex, repetition }: RunResult): string =>
        [sectionOrderIndex, orderIndex, repetition].join();
      expect(found.map(at)).toEqual(wanted.map(at));
    }
    // few of them, in another order
    for (const sort of ['-score', 'latency', '-order'] as const) {
      const [total, found] = await list({ finish_reason: 'length', sort }, 2);
      expect(total).toBeLessThan(all.length / 200);
      const sorted = all.filter(({ finishReason }) => finishReason === 'length');
      expect(found.map(({ orderIndex }) => orderIndex).toSorted()).toEqual(
        sorted.map(({ orderIndex }) => orderIndex).toSorted(),
      );
      expect(found).toHaveLength(total);
    }
    // a cursor of another filter
    const { nextCursor } = await store.runs.listResults(run.id, { passed: true, q: 'OUT', limit: 1 });
    const other = await store.runs.listResults(run.id, {
      q: 'out',
      limit: 1,
      cursor: nextCursor ?? undefined,
    });
    expect(other.totalItems).toBe(all.filter(({ output }) => output === 'out').length);
  });

  it('begins at any place of a list, in every order and with filters', async () => {
    const run = await createRun({ s: texts(30) }, 2);
    const { session } = (await takeRun(run.id))!;
    await session.saveResults(
      Array.from({ length: 60 }, (_, at) => {
        const hasValue = at % 3 !== 0;
        return result(at % 30, {
          repetition: at < 30 ? 1 : 2,
          ...{ score: hasValue ? (at % 5) / 4 : null, passed: hasValue ? at % 5 === 4 : null },
          ...{ latencyMs: hasValue ? (at * 7) % 11 : null, finishReason: at % 2 === 0 ? 'length' : 'stop' },
        });
      }),
    );
    await session.finish({ status: 'completed' });
    const list = async (request: Partial<ResultsRequest>): Promise<string[]> => {
      const page = await store.runs.listResults(run.id, { limit: 100, ...request });
      page.release();
      return page.data.map(({ orderIndex, repetition }) => `${orderIndex} ${repetition}`);
    };
    for (const sort of ['order', '-order', 'score', '-score', 'latency', '-latency', 'cost'] as const) {
      for (const conditions of [{}, { finish_reason: 'length' }, { q: 'out', passed: false }]) {
        const all = await list({ ...conditions, sort });
        for (const offset of [1, Math.floor(all.length / 2), all.length - 1, all.length, all.length + 7]) {
          const found = await list({ ...conditions, sort, offset, limit: 3 });
          expect([sort, conditions, offset, found]).toEqual([
            ...[sort, conditions, offset],
            all.slice(offset, offset + 3),
          ]);
        }
      }
    }
  });

  it('counts again when results have been written', async () => {
    const run = await createRun({ s: texts(5) });
    const { session } = (await takeRun(run.id))!;
    const saved = [0, 1, 2, 3, 4].map((index) => result(index, { output: `OUT ${index % 2}` }));
    const totalOf = async (q: string): Promise<number> => {
      const page = await store.runs.listResults(run.id, { q, limit: 2 });
      page.release();
      return page.totalItems;
    };
    await session.saveResults(saved.slice(0, 3));
    expect([await totalOf('out 0'), await totalOf('out 0'), await totalOf('out 1')]).toEqual([2, 2, 1]);
    await session.saveResults(saved.slice(3));
    expect([await totalOf('out 0'), await totalOf('out 0'), await totalOf('out 1')]).toEqual([3, 3, 2]);
  });
});

describe('cancellation', () => {
  it('ends an unclaimed run immediately, and any number of times', async () => {
    const run = await createRun({ s: texts(1) });
    const cancelled = await store.runs.requestCancel(run.id);
    expect(cancelled).toMatchObject({ status: 'cancelled', finishedAt: expect.any(Date) });
    expect(await store.runs.requestCancel(run.id)).toEqual(cancelled);
    expect(await takeRun(run.id)).toBeNull();
  });

  it('reaches the worker of a running run, by question and by notification', async () => {
    const run = await createRun({ s: texts(1) });
    const other = await createRun({ s: texts(1) });
    const { session } = (await takeRun(run.id))!;
    await takeRun(other.id);
    const ids = [run.id, other.id];
    expect(await store.cancellationsAmong(ids)).toEqual({ cancelled: [], checkIntervalMs: 2_000 });

    const heard: string[] = [];
    const connected = Promise.withResolvers<void>();
    await using _ = listen({
      url: database.url,
      channel: 'svc_cancel',
      onNotification: (id) => heard.push(id),
      onConnect: () => connected.resolve(),
    });
    await connected.promise;
    const asked = await store.runs.requestCancel(run.id);
    expect(asked).toMatchObject({ status: 'cancelling', finishedAt: null });
    expect((await store.runs.requestCancel(run.id)).cancelRequestedAt).toEqual(asked.cancelRequestedAt);
    expect((await store.cancellationsAmong(ids)).cancelled).toEqual([run.id]);
    await expect.poll(() => heard).toContain(run.id);

    // a worker that takes it over knows immediately
    expect((await takeRun(run.id))?.run.status).toBe('cancelling');
    const { session: current } = (await takeRun(run.id))!;
    await expect(session.finish({ status: 'cancelled' })).rejects.toMatchObject({ code: 'superseded' });
    await current.finish({ status: 'cancelled' });
    expect((await store.runs.requestCancel(run.id)).status).toBe('cancelled');
  });

  it('is refused for a run that has ended otherwise', async () => {
    const run = await createRun({ s: texts(1) });
    await (await takeRun(run.id))!.session.finish({ status: 'completed' });
    await expect(store.runs.requestCancel(run.id)).rejects.toMatchObject({ code: 'run_finished' });
  });

  it('counts what was deleted or has ended as cancelled, and reads the interval', async () => {
    const run = await createRun({ s: texts(1) });
    await takeRun(run.id);
    await store.settings.update({ cancellationCheckIntervalMs: 250 });
    const gone = randomUUID();
    expect(await store.cancellationsAmong([run.id, gone])).toEqual({
      cancelled: [gone],
      checkIntervalMs: 250,
    });
    expect((await store.cancellationsAmong([])).cancelled).toEqual([]);
  });
});

describe('runs that no worker will end', () => {
  it('fail, or are cancelled when that was asked for', async () => {
    const error = { code: 'worker_lost', message: 'it stopped' };
    const [lost, cancelled] = [await createRun({ s: texts(1) }), await createRun({ s: texts(1) })];
    await takeRun(lost.id);
    await takeRun(cancelled.id);
    await store.runs.requestCancel(cancelled.id);
    expect(await store.runs.fail(lost.id, error)).toBe('failed');
    expect(await store.runs.fail(cancelled.id, error)).toBe('cancelled');
    expect(await store.runs.get(lost.id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('worker_lost'),
    });
    expect(await store.runs.get(cancelled.id)).toMatchObject({ status: 'cancelled', error: null });
    expect(await store.runs.fail(lost.id, error)).toBeNull();
  });

  it('are failed by their worker after the last attempt', async () => {
    const run = await createRun({ s: texts(1) });
    await takeRun(run.id);
    await store.runs.fail(run.id, { code: 'internal', message: 'it broke' });
    await store.runs.fail(run.id, { code: 'internal', message: 'again' });
    expect((await store.runs.get(run.id)).error).toBe('{"code":"internal","message":"it broke"}');
  });
});

it('counts the tasks on the queues', async () => {
  const before = await store.queueSizes();
  await createRun({ s: texts(1) });
  expect(await store.queueSizes()).toEqual({ ...before, queued: before.queued + 1 });
});

it('begins many runs concurrently on few connections', async () => {
  const dataset = await importItems(store.datasets, { s: texts(1) });
  await using small = createStore({ url: database.url, poolSize: 2 });
  const created = await Promise.all(
    Array.from({ length: 8 }, () =>
      small.runs.create({
        id: randomUUID(),
        datasetId: dataset.id,
        name: null,
        config: '{}',
        repetitions: 1,
        requestId: null,
      }),
    ),
  );
  expect(created.map(({ status }) => status)).toEqual(Array(8).fill('queued'));
});
