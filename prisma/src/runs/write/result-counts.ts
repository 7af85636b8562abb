import { MAIN_SCORER } from '@svc/evaluation';
import type { ScorerScore } from '@svc/jsonl-v23/internal';
import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { shortened } from '../../database/values.ts';

/** What a run counts of its results, as SQL; of the last ones the sum. */
const COUNTED = {
  ok: `count(*) FILTER (WHERE status = 'ok')`,
  failed: `count(*) FILTER (WHERE status = 'failed')`,
  unscored: `count(*) FILTER (WHERE status = 'unscored')`,
  scored: 'count(score)',
  score_sum: 'coalesce(sum(score), 0)',
  passed: 'count(*) FILTER (WHERE passed)',
  wrong: 'count(*) FILTER (WHERE NOT passed AND score IS NOT NULL)',
  truncated: 'count(*) FILTER (WHERE truncated)',
  reused: 'count(*) FILTER (WHERE reused)',
  input_tokens: 'coalesce(sum(input_tokens), 0)',
  output_tokens: 'coalesce(sum(output_tokens), 0)',
  judge_input_tokens: 'coalesce(sum(judge_input_tokens), 0)',
  judge_output_tokens: 'coalesce(sum(judge_output_tokens), 0)',
  judge_cost: 'coalesce(sum(judge_cost), 0)',
} as const;
type CountName = keyof typeof COUNTED;
const NAMES = Object.keys(COUNTED) as CountName[];
const FRACTIONS: readonly CountName[] = ['score_sum', 'judge_cost'];

/** What results add to the counts of their run: columns of one row. */
export const COUNTS: string = `count(*) AS all, ${NAMES.map((name) => `${COUNTED[name]} AS ${name}`).join(', ')}`;

/** By how much the counts of results have changed. @param before,after a row of COUNTS each */
export const GROWTH = (before: string, after: string): string =>
  NAMES.map((name) => `${after}.${name} - ${before}.${name} AS ${name}`).join(', ');

export const COUNTED_COLUMNS: readonly string[] = [
  ...['status', 'score', 'passed', 'truncated', 'reused', 'input_tokens', 'output_tokens'],
  ...['judge_input_tokens', 'judge_output_tokens', 'judge_cost'],
];

/** What a batch of results adds to the counts of its run; 64-bit integers are text. */
export type Growth = Readonly<Record<'written' | 'replaced' | 'again' | CountName, string | number>>;

/** $1 the run, $2 the number of results, $3 how many of them were not to be done, $4 what they have cost, then what each count grows by. A separate statement: it is another table. */
const COUNT = `UPDATE runs SET results_version = results_version + $2::bigint, results_due = results_due + $3::bigint,
    spent = spent + $4::float8,
    ${NAMES.map((name, index) => `${name} = ${name} + $${index + 5}::${FRACTIONS.includes(name) ? 'float8' : 'bigint'}`).join(', ')}
  WHERE id = $1`;

export async function countResults(
  client: pg.ClientBase,
  runId: string,
  growth: Growth,
  cost: number,
): Promise<void> {
  const counts = NAMES.map((name) => growth[name]);
  await client.query(COUNT, [runId, growth.written, growth.again, cost, ...counts]);
}

/** The numbers in the `scores` of a result, by scorer. */
export type ScorerNumbers = Readonly<Record<string, Pick<ScorerScore, 'score' | 'passed' | 'error'>>>;

export const MAX_SCORERS = 16;

/**
 * Adds the scorers of scores to the scorers of their run.
 *
 * @param client in a transaction that holds the run's row
 * @throws StoreError `too_many_scorers`
 */
export async function addScorers(
  client: pg.ClientBase,
  runId: string,
  scored: readonly ScorerNumbers[],
): Promise<readonly string[]> {
  const found = new Set(scored.flatMap((scores) => Object.keys(scores)));
  if (found.size === 0) return [];
  const { rows } = await client.query<{ names: string | null }>(
    'SELECT scorer_names AS names FROM runs WHERE id = $1',
    [runId],
  );
  const known = JSON.parse(rows[0]?.names ?? '[]') as string[];
  const names = [...new Set([...known, ...found])];
  if (names.length === known.length) return names;
  if (names.length > MAX_SCORERS) {
    throw new StoreError('too_many_scorers', `A run has at most ${MAX_SCORERS} scorers.`);
  }
  await client.query('UPDATE runs SET scorer_names = $2 WHERE id = $1', [runId, JSON.stringify(names)]);
  return names;
}

/**
 * The numbers of scores in the order of the run's scorers, as texts of arrays. A scorer that failed has not passed, and has no
 * score; one that does not apply to the item has neither.
 */
export function numbersOf(
  scored: ScorerNumbers,
  names: readonly string[],
): { readonly scorerScores: string; readonly scorerPassed: string } {
  const used = Object.keys(scored).length === 0 ? [] : names;
  const values = new Map(Object.entries(scored));
  const array = (of: (score: ScorerNumbers[string]) => number | boolean | null): string => {
    const texts = used.map((name) => {
      const score = values.get(name);
      return String(score === undefined ? null : of(score)).toUpperCase();
    });
    return `{${texts.join(',')}}`;
  };
  return {
    scorerScores: array(({ score }) => score),
    scorerPassed: array(({ passed, error }) => (error === undefined ? passed : false)),
  };
}

/**
 * The number of a scorer in the results of its run, from 1; null for the main one of a run that names none.
 *
 * @param names JSON text of the run's `scorer_names`; null without any
 * @throws StoreError `scorer_not_found`
 */
export function scorerNumber(names: string | null, scorer: string): number | null {
  const number = findScorer(names, scorer);
  if (number !== undefined) return number;
  throw new StoreError('scorer_not_found', `The run has no scorer ${JSON.stringify(shortened(scorer))}.`);
}

/** The same; undefined for a scorer that has scored nothing. */
export function findScorer(names: string | null, scorer: string): number | null | undefined {
  const found = (JSON.parse(names ?? '[]') as string[]).indexOf(scorer);
  return found !== -1 ? found + 1 : scorer === MAIN_SCORER ? null : undefined;
}
