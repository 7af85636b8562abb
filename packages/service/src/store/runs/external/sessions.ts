import { randomUUID } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { ScorerScore, Scores } from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import { addUsage, errorGroup, type RunResult, readPrices, tokenCounts } from '../../../evaluation/index.ts';
import { writeAudit } from '../../audit/actor.ts';
import type { StoreContext } from '../../context.ts';
import { guarded, guardedStream, StoreError } from '../../database/errors.ts';
import { readStoredJson } from '../../database/read-stored-json.ts';
import type { ItemPosition } from '../../items/item-ranges.ts';
import { inTransaction, type Pool } from '../../postgres/pool.ts';
import { createReadQuery, createReads, queryOf } from '../../postgres/read-query.ts';
import type { MainScorer } from '../adding-scorers.ts';
import { readItemsAt } from '../read-run-items.ts';
import { keyColumns, type ResultKey } from '../run-results.ts';
import { type Run, type RunLock, readRun, runFinished, versionOf } from '../run-row.ts';
import {
  addScorers,
  COUNTED_COLUMNS,
  COUNTS,
  countResults,
  GROWTH,
  type Growth,
  type ImportedResult,
  insertResults,
  numbersOf,
  type Written,
} from '../write/insert-results.ts';
import { createLocator } from './locate-items.ts';
import { endClaims, readExternal, readWaiting } from './pending.ts';

/** A run that takes results from outside, for one request. */
export type PushSession = Awaited<ReturnType<typeof openPush>>;

/** Opens a run to store results. @throws StoreError `run_not_found`, `run_not_external`, `run_finished` */
export async function openPush(context: StoreContext, id: string, signal: AbortSignal) {
  const { pool, assets } = context;
  const run = await readExternal(pool, id);
  if (run.finishedAt !== null) throw runFinished(run);
  const prices = readPrices(run.price, run.judgePrice);
  const query = createReadQuery(pool, signal);
  const store = audited(pool, 'results.push', run.id);
  return {
    run,
    /** Reads a file of an item, see `RunSession`. */
    readAsset: (
      { sha256, byteLength }: { readonly sha256: string; readonly byteLength: number },
      reading: AbortSignal,
    ) =>
      guardedStream(assets.read(createReads(pool, reading), sha256, { start: 0, end: byteLength }, reading)),
    ...guarded({
      /** Finds the items that references name, each in its place: the position, or what is wrong. */
      locate: await createLocator(query, run),
      /** Reads items for what scores outputs: of as many of the positions as fit into memory, in their order, and one at least. */
      async readItems(positions: readonly ItemPosition[]) {
        const items = await readItemsAt(query, context, versionOf(run), positions);
        return items.map(({ item }) => item);
      },
      /**
       * Stores results, each in place of an earlier one, and ends their claims.
       *
       * @param results at most one for each repetition of an item
       * @throws StoreError `run_finished`, `run_not_found`
       */
      save: (results: readonly ImportedResult[]) =>
        store(async (client) => {
          const { status } = await readWaiting(client, run.id, 'FOR NO KEY UPDATE');
          if (status === 'waiting') {
            await client.query(
              `UPDATE runs SET status = 'running', started_at = coalesce(started_at, clock_timestamp()) WHERE id = $1`,
              [run.id],
            );
          }
          const written = await insertResults(client, run.id, results, prices, 'all');
          await endClaims(client, run.id, results);
          return written;
        }),
    }),
  };
}

/** Makes what stores in transactions, with one row of the audit for all of them: each writes it anew. */
function audited(pool: Pool, action: 'results.push' | 'scores.push', runId: string) {
  const rowId = randomUUID();
  let [results, replaced] = [0, 0];
  return async <T extends Written>(store: (client: pg.ClientBase) => Promise<T>): Promise<T> => {
    const stored = await inTransaction(pool, async (client) => {
      const made = await store(client);
      const counts = { results: results + made.written, replaced: replaced + made.replaced };
      if (counts.results > 0) await writeAudit(client, action, { kind: 'run', id: runId }, counts, rowId);
      return made;
    });
    results += stored.written;
    replaced += stored.replaced;
    return stored;
  };
}

export interface ScoredResult extends ResultKey {
  readonly scores: Scores;
  /** What judges took for them; null or absent without one. */
  readonly judgeUsage?: RunResult['judgeUsage'];
  readonly judgeCost?: RunResult['judgeCost'];
  /** What the requests for them have cost, for the budget. Default: 0. */
  readonly cost?: number;
  /** Secrets that were replaced in them. Default: 0. */
  readonly redacted?: number;
}

/**
 * The scores that results have: $1 the run, $2 to $4 the keys; `n` is the place of the key. Those of failed requests, which have
 * no output, get none.
 */
const OLD = `SELECT wanted.n::int AS n, result.scores, result.judge_usage AS usage FROM unnest($2::int[], $3::int[], $4::int[]) WITH ORDINALITY
    AS wanted (section, item, repetition, n)
  JOIN run_results result ON result.run_id = $1 AND result.section_order_index = wanted.section
    AND result.order_index = wanted.item AND result.repetition = wanted.repetition
    AND NOT (result.status = 'failed' AND result.output IS NULL)`;

/**
 * Scores and the charges of judges that results get, $1 the run; the main members where the main scorer scored them. What it
 * changes of the counts of the run is a row.
 */
const UPDATE = `WITH wanted AS MATERIALIZED (
    SELECT *, numbers::float8[] AS scorer_scores, passes::bool[] AS scorer_passed
    FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[],
      $11::float8[], $12::text[], $13::float8[], $14::bool[], $15::text[], $16::text[], $17::text[], $18::text[], $19::int[])
      AS wanted (section_order_index, order_index, repetition, scores, numbers, passes, judge_usage, judge_input_tokens,
        judge_output_tokens, charge, main_status, score, passed, explanation, scored_by, error, error_group, redacted)
  ), old AS MATERIALIZED (
    SELECT ${COUNTS} FROM (
      SELECT ${COUNTED_COLUMNS.map((name) => `result.${name}`).join(', ')} FROM run_results result
        JOIN unnest($2::int[], $3::int[], $4::int[]) AS key (section_order_index, order_index, repetition)
          USING (section_order_index, order_index, repetition)
      WHERE result.run_id = $1
    ) AS result
  ), written AS (
    UPDATE run_results result SET scores = wanted.scores, scorer_scores = wanted.scorer_scores, scorer_passed = wanted.scorer_passed,
      ${['judge_usage', 'judge_input_tokens', 'judge_output_tokens'].map((name) => `${name} = coalesce(wanted.${name}, result.${name})`).join(', ')},
      ${['judge_cost', 'cost'].map((name) => `${name} = coalesce((result.${name} + wanted.charge)::numeric::float8, wanted.charge, result.${name})`).join(', ')},
      redacted = result.redacted + wanted.redacted, status = coalesce(wanted.main_status, result.status),
      ${['score', 'passed', 'explanation', 'scored_by', 'error', 'error_group'].map((name) => `${name} = CASE WHEN wanted.main_status IS NULL THEN result.${name} ELSE wanted.${name} END`).join(', ')}
    FROM wanted WHERE result.run_id = $1 AND result.section_order_index = wanted.section_order_index
      AND result.order_index = wanted.order_index AND result.repetition = wanted.repetition
    RETURNING ${COUNTED_COLUMNS.map((name) => `result.${name}`).join(', ')}
  ), added AS (
    SELECT ${COUNTS} FROM written
  )
  SELECT added.all AS written, 0 AS again, ${GROWTH('old', 'added')} FROM added, old`;

/** A run that has ended and takes scores from outside, for one request. */
export type ScoreSession = Awaited<ReturnType<typeof openScores>>;

/** Opens a run that has ended to add scores that a client sends. @throws StoreError `run_not_found`, `run_active` */
export async function openScores({ pool }: StoreContext, id: string, signal: AbortSignal) {
  const run = await readEnded(pool, id, '');
  const store = audited(pool, 'scores.push', run.id);
  return {
    run,
    ...guarded({
      locate: await createLocator(createReadQuery(pool, signal), run),
      /**
       * Adds scores to results, each in place of the one of its name.
       *
       * @param scored at most one for each result
       * @returns how many results had one of these scores, and the places of those that are not there or whose requests failed
       * @throws StoreError `run_active`, `run_not_found`, `too_many_scorers`
       */
      save: (scored: readonly ScoredResult[]) =>
        store(async (client) => {
          await readEnded(client, id, 'FOR NO KEY UPDATE');
          const added = await addScores(client, run.id, scored);
          await client.query('UPDATE runs SET results_due = results_due + $2 WHERE id = $1', [
            run.id,
            added.written,
          ]);
          return added;
        }),
    }),
  };
}

async function readEnded(client: pg.ClientBase | pg.Pool, id: string, lock: RunLock | ''): Promise<Run> {
  const run = await readRun(queryOf(client), id, lock);
  if (run.finishedAt !== null) return run;
  throw new StoreError('run_active', `Cannot add scores to the run: it is ${run.status}.`);
}

/**
 * Adds scores to results, and what judges took and charged for them.
 *
 * @param client in a transaction that holds the run's row
 * @param main the scorer whose scores become the scores of results; null if the results have theirs
 * @throws StoreError `too_many_scorers`
 */
export async function addScores(
  client: pg.ClientBase,
  runId: string,
  scored: readonly ScoredResult[],
  main: MainScorer | null = null,
): Promise<Written & { readonly missing: ReadonlySet<number> }> {
  const { rows } = await client.query<OldScores>(OLD, [runId, ...keyColumns(scored)]);
  const old = new Map(rows.map((row) => [row.n - 1, row]));
  const merged = scored.flatMap((one, index) => {
    const row = old.get(index);
    return row === undefined ? [] : [mergeScores(one, row, main)];
  });
  const names = await addScorers(
    client,
    runId,
    merged.map(({ scores }) => scores),
  );
  const numbers = merged.map(({ scores }) => numbersOf(scores, names));
  const { rows: grown } = await client.query<Growth>(UPDATE, [
    ...[runId, ...keyColumns(merged)],
    merged.map(({ scores }) =>
      Object.keys(scores).length === 0 ? null : canonicalJson(scores as unknown as JsonObject),
    ),
    numbers.map(({ scorerScores }) => scorerScores),
    numbers.map(({ scorerPassed }) => scorerPassed),
    merged.map(({ judgeUsage }) => (judgeUsage === null ? null : canonicalJson(judgeUsage))),
    merged.map(({ judgeUsage }) => tokenCounts(judgeUsage).input),
    merged.map(({ judgeUsage }) => tokenCounts(judgeUsage).output),
    merged.map(({ judgeCost }) => judgeCost ?? null),
    merged.map(({ byMain }) => byMain && statusOf(byMain)),
    merged.map(({ byMain }) => byMain?.score ?? null),
    merged.map(({ byMain }) => byMain?.passed ?? null),
    merged.map(({ byMain }) => (byMain?.explanation == null ? null : canonicalJson(byMain.explanation))),
    merged.map(({ byMain }) => byMain?.scored_by ?? null),
    merged.map(({ byMain }) => (byMain?.error === undefined ? null : canonicalJson({ ...byMain.error }))),
    merged.map(({ byMain }) => (byMain?.error === undefined ? null : errorGroup(byMain.error))),
    merged.map(({ redacted = 0 }) => redacted),
  ]);
  const cost = merged.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  await countResults(client, runId, grown[0] as Growth, cost);
  return {
    written: merged.length,
    replaced: merged.filter(({ hadOne }) => hadOne).length,
    missing: new Set(scored.keys().filter((index) => !old.has(index))),
  };
}

function mergeScores(one: ScoredResult, old: OldScores, main: MainScorer | null) {
  const before = readScores(old.scores);
  const byMain = main === null ? null : (one.scores[main.name] ?? null);
  const added = Object.entries(one.scores).filter(
    ([name]) => main === null || main.isNamed || name !== main.name,
  );
  const usage = old.usage === null ? null : (readStoredJson(old.usage) as JsonObject);
  return {
    ...one,
    byMain,
    scores: { ...before, ...Object.fromEntries(added) } as Scores,
    hadOne: Object.keys(one.scores).some((name) => Object.hasOwn(before, name)),
    judgeUsage: one.judgeUsage == null ? null : (addUsage(usage, one.judgeUsage) as JsonObject),
  };
}

const statusOf = ({ score, error }: ScorerScore): RunResult['status'] =>
  error === undefined ? (score === null ? 'unscored' : 'ok') : 'failed';

interface OldScores {
  /** From 1. */
  readonly n: number;
  readonly scores: string | null;
  readonly usage: string | null;
}

const readScores = (json: string | null | undefined): Scores =>
  json == null ? {} : (readStoredJson(json) as unknown as Scores);
