import { createHash } from 'node:crypto';
import type { ReadQuery } from '@svc/postgres';
import type { StoreContext } from '../../context.ts';
import {
  isBeyondAscii,
  type ResultsConditions,
  resultsFilter,
  type TextTraits,
  wantedText,
} from './results-filter.ts';

/** What a run knows of its results without reading them. */
export interface RunTotals {
  readonly id: string;
  /** Changes with its results. */
  readonly version: string;
  readonly results: number;
}

/** The number of results that pass a filter, as the cursor of a page has it. */
export interface ResultsTotal {
  readonly total: number;
  /** Names the filter and the state of the results. */
  readonly countedFor: string;
}

const SAMPLE_RESULTS = 500;
/** Longer outputs are left out. */
const MAX_SAMPLE_BYTES = 10_000;

/**
 * Counts the results that pass a filter, unless there is none, or an earlier page counted the same.
 *
 * @param before the total in the cursor
 */
export async function countResults(
  query: ReadQuery,
  searches: StoreContext['searches'],
  run: RunTotals,
  conditions: ResultsConditions,
  before: ResultsTotal | undefined,
  signal: AbortSignal | undefined,
): Promise<ResultsTotal> {
  const countedFor = keyOf(run, conditions);
  if (before?.countedFor === countedFor) return before;
  if (Object.values(conditions).every((value) => value === undefined)) {
    return { total: run.results, countedFor };
  }
  using _permit = await searches.acquire(signal);
  const { q } = conditions;
  const traits = q === undefined ? undefined : await sampleTexts(query, run.id, q);
  const { sql, joins, values } = resultsFilter(conditions, 2, traits);
  const [found] = await query<{ readonly total: number }>(
    `SELECT count(*)::float8 AS total FROM run_results result ${joins} WHERE result.run_id = $1 ${sql}`,
    [run.id, ...values],
  );
  return { total: found?.total ?? 0, countedFor };
}

/** Looks at some outputs of a run, to choose the cheapest way to search all of them. */
async function sampleTexts(query: ReadQuery, runId: string, q: string): Promise<TextTraits> {
  const [found] = await query<TextTraits>(
    `SELECT coalesce(avg((position($2::text IN output) > 0)::int) > 0.5, false) AS "mostContainIt",
       coalesce(avg((${isBeyondAscii('output')})::int) < 0.5, false) AS "mostAreAscii"
     FROM (SELECT output FROM run_results WHERE run_id = $1 LIMIT ${SAMPLE_RESULTS}) AS sample
     WHERE octet_length(output) <= ${MAX_SAMPLE_BYTES}`,
    [runId, wantedText(q)],
  );
  return found as TextTraits;
}

function keyOf(run: RunTotals, conditions: ResultsConditions): string {
  const text = JSON.stringify([run.id, run.version, conditions]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
