import { addUsage, type RunResult, type TokenCounts, tokenCounts } from '@svc/evaluation';
import type { Scores } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { createReadQuery, inTransaction } from '@svc/postgres';
import type pg from 'pg';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { guarded } from '../../database/guarded.ts';
import { readStoredJson } from '../../database/read-stored-json.ts';
import { isUuid } from '../../database/values.ts';
import { addScorers, numbersOf } from '../insert-results.ts';
import { RUN_COLUMNS, type Run, type RunRow, runNotFound, toRun } from '../run-row.ts';
import type { ResultKey } from './find-missing.ts';
import { createLocator } from './locate-items.ts';
import type { PushSession } from './push-session.ts';

/** Scores of one result from outside. */
export interface ScoredResult extends ResultKey {
  readonly scores: Scores;
  /** What judges took for them; null or absent without one. */
  readonly judgeUsage?: RunResult['judgeUsage'];
}

/** A run that has ended and takes scores from outside, for one request. */
export interface ScoreSession extends Pick<PushSession, 'run' | 'locate'> {
  /**
   * Adds scores to results, each in place of the one of its name.
   *
   * @param scored at most one for each result
   * @returns how many results had one of these scores, and the places of those that are not there
   * @throws StoreError `run_active`, `run_not_found`, `too_many_scorers`
   */
  save(
    scored: readonly ScoredResult[],
  ): Promise<{ readonly replaced: number; readonly missing: ReadonlySet<number> }>;
}

/** The scores that results have: $1 the run, $2 to $4 the keys; `n` is the place of the key. */
const OLD = `SELECT wanted.n::int AS n, result.scores, result.judge_usage AS usage FROM unnest($2::int[], $3::int[], $4::int[]) WITH ORDINALITY
    AS wanted (section, item, repetition, n)
  JOIN run_results result ON result.run_id = $1 AND result.section_order_index = wanted.section
    AND result.order_index = wanted.item AND result.repetition = wanted.repetition`;

const UPDATE = `UPDATE run_results result SET scores = wanted.scores, scorer_scores = wanted.numbers::float8[],
    scorer_passed = wanted.passed::bool[]
  FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[])
    AS wanted (section, item, repetition, scores, numbers, passed)
  WHERE result.run_id = $1 AND result.section_order_index = wanted.section
    AND result.order_index = wanted.item AND result.repetition = wanted.repetition`;

const UPDATE_USAGE = `UPDATE run_results result SET judge_usage = wanted.usage, judge_input_tokens = wanted.input,
    judge_output_tokens = wanted.output
  FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::int[], $7::int[])
    AS wanted (section, item, repetition, usage, input, output)
  WHERE result.run_id = $1 AND result.section_order_index = wanted.section
    AND result.order_index = wanted.item AND result.repetition = wanted.repetition`;

/** See `RunStore.pushScores`. */
export async function openScores(
  { pool }: Pick<StoreContext, 'pool'>,
  id: string,
  signal: AbortSignal,
): Promise<ScoreSession> {
  const run = await readEnded(pool, id, '');
  const locate = await createLocator(createReadQuery(pool, signal), run);
  return {
    run,
    ...guarded({
      locate,
      async save(scored: readonly ScoredResult[]) {
        return await inTransaction(pool, async (client) => {
          await readEnded(client, id, 'FOR UPDATE');
          const added = await addScores(client, run.id, scored);
          await client.query('UPDATE runs SET results_due = results_due + $2 WHERE id = $1', [
            run.id,
            scored.length - added.missing.size,
          ]);
          return added;
        });
      },
    }),
  };
}

async function readEnded(client: pg.ClientBase | pg.Pool, id: string, lock: 'FOR UPDATE' | ''): Promise<Run> {
  const { rows } = isUuid(id)
    ? await client.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 ${lock}`, [id])
    : { rows: [] };
  if (rows[0] === undefined) throw runNotFound(id);
  const run = toRun(rows[0]);
  if (run.finishedAt !== null) return run;
  throw new StoreError('run_active', `Cannot add scores to the run: it is ${run.status}.`);
}

/**
 * Adds scores to results, and what judges took for them, to which no price applies.
 *
 * @param client in a transaction that holds the run's row
 * @returns as {@link ScoreSession.save}
 * @throws StoreError `too_many_scorers`
 */
export async function addScores(
  client: pg.ClientBase,
  runId: string,
  scored: readonly ScoredResult[],
): Promise<{ readonly replaced: number; readonly missing: ReadonlySet<number> }> {
  const keys = (of: readonly ScoredResult[]): unknown[] => [
    of.map(({ sectionOrderIndex }) => sectionOrderIndex),
    of.map(({ orderIndex }) => orderIndex),
    of.map(({ repetition }) => repetition),
  ];
  const { rows } = await client.query<OldScores>(OLD, [runId, ...keys(scored)]);
  const old = new Map(rows.map((row) => [row.n - 1, row]));
  const found = scored.flatMap((one, index) =>
    old.has(index) ? [{ ...one, before: readScores(old.get(index)?.scores) }] : [],
  );
  const merged = found.map((one) => ({ ...one, scores: { ...one.before, ...one.scores } as Scores }));
  const names = await addScorers(
    client,
    runId,
    merged.map(({ scores }) => scores),
  );
  const numbers = merged.map(({ scores }) => numbersOf(scores, names));
  await client.query(UPDATE, [
    ...[runId, ...keys(merged)],
    merged.map(({ scores }) => canonicalJson(scores as unknown as JsonObject)),
    numbers.map(({ scorerScores }) => scorerScores),
    numbers.map(({ scorerPassed }) => scorerPassed),
  ]);
  await client.query('UPDATE runs SET results_version = results_version + $2 WHERE id = $1', [
    runId,
    merged.length,
  ]);
  const judged = scored.flatMap((one, index) => {
    const { usage } = old.get(index) ?? {};
    if (one.judgeUsage == null || usage === undefined) return [];
    const before = usage === null ? null : (readStoredJson(usage) as JsonObject);
    return [
      { ...one, usage: addUsage(before, one.judgeUsage) as JsonObject, tokens: tokenCounts(one.judgeUsage) },
    ];
  });
  if (judged.length > 0) await addJudgeUsage(client, runId, judged, keys(judged));
  return {
    replaced: found.filter(({ before, scores }) =>
      Object.keys(scores).some((name) => Object.hasOwn(before, name)),
    ).length,
    missing: new Set(scored.keys().filter((index) => !old.has(index))),
  };
}

async function addJudgeUsage(
  client: pg.ClientBase,
  runId: string,
  judged: readonly { readonly usage: JsonObject; readonly tokens: TokenCounts }[],
  keys: readonly unknown[],
): Promise<void> {
  const all = judged.map(({ usage }) => tokenCounts(usage));
  await client.query(UPDATE_USAGE, [
    ...[runId, ...keys],
    judged.map(({ usage }) => canonicalJson(usage)),
    all.map(({ input }) => input),
    all.map(({ output }) => output),
  ]);
  const sum = (of: 'input' | 'output'): number =>
    judged.reduce((total, { tokens }) => total + (tokens[of] ?? 0), 0);
  await client.query(
    `UPDATE runs SET judge_input_tokens = judge_input_tokens + $2, judge_output_tokens = judge_output_tokens + $3
     WHERE id = $1`,
    [runId, sum('input'), sum('output')],
  );
}

interface OldScores {
  /** From 1. */
  readonly n: number;
  readonly scores: string | null;
  readonly usage: string | null;
}

const readScores = (json: string | null | undefined): Scores =>
  json == null ? {} : (readStoredJson(json) as unknown as Scores);
