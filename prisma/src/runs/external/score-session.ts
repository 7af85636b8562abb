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
const OLD = `SELECT wanted.n::int AS n, result.scores FROM unnest($2::int[], $3::int[], $4::int[]) WITH ORDINALITY
    AS wanted (section, item, repetition, n)
  JOIN run_results result ON result.run_id = $1 AND result.section_order_index = wanted.section
    AND result.order_index = wanted.item AND result.repetition = wanted.repetition`;

const UPDATE = `UPDATE run_results result SET scores = wanted.scores, scorer_scores = wanted.numbers::float8[],
    scorer_passed = wanted.passed::bool[]
  FROM unnest($2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[])
    AS wanted (section, item, repetition, scores, numbers, passed)
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
          return await addScores(client, run.id, scored);
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

async function addScores(
  client: pg.ClientBase,
  runId: string,
  scored: readonly ScoredResult[],
): Promise<{ readonly replaced: number; readonly missing: ReadonlySet<number> }> {
  const keys = (of: readonly ScoredResult[]): unknown[] => [
    of.map(({ sectionOrderIndex }) => sectionOrderIndex),
    of.map(({ orderIndex }) => orderIndex),
    of.map(({ repetition }) => repetition),
  ];
  const { rows } = await client.query<{ n: number; scores: string | null }>(OLD, [runId, ...keys(scored)]);
  const old = new Map(rows.map(({ n, scores }) => [n - 1, scores]));
  const found = scored.flatMap((one, index) =>
    old.has(index) ? [{ ...one, before: readScores(old.get(index)) }] : [],
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
  await client.query(
    'UPDATE runs SET results_version = results_version + $2, results_due = results_due + $2 WHERE id = $1',
    [runId, merged.length],
  );
  return {
    replaced: found.filter(({ before, scores }) =>
      Object.keys(scores).some((name) => Object.hasOwn(before, name)),
    ).length,
    missing: new Set(scored.keys().filter((index) => !old.has(index))),
  };
}

const readScores = (json: string | null | undefined): Scores =>
  json == null ? {} : (readStoredJson(json) as unknown as Scores);
