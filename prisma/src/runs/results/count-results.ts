import { createHash } from 'node:crypto';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import type { ResultPosition } from '../run-results.ts';
import {
  isBeyondAscii,
  type ResultsConditions,
  resultsFilter,
  type TextTraits,
  wantedText,
} from './results-filter.ts';
import { allMatching, type Matching } from './search-results.ts';

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

/** The results that pass a filter. */
interface MatchingResults extends ResultsTotal {
  /** All of them, in any order, where they are {@link isFew few}. */
  readonly keys?: readonly ResultPosition[];
}

const SAMPLE_RESULTS = 500;
/** Longer outputs are left out. */
const MAX_SAMPLE_BYTES = 10_000;

/** Whether a pass over all results is faster than an index of another order. */
const isFew = (total: number, { results }: RunTotals): boolean => total > 0 && total * 200 <= results;

/**
 * Counts the results that pass a filter, unless there is none, or an earlier page counted the same, and finds the few of a
 * filter that passes few.
 *
 * @param before the total in the cursor
 */
export async function countResults(
  query: ReadQuery,
  searches: StoreContext['searches'],
  run: RunTotals,
  { conditions, items }: Omit<Matching, 'runId'>,
  before: ResultsTotal | undefined,
  signal: AbortSignal | undefined,
): Promise<MatchingResults> {
  const countedFor = keyOf(run, conditions);
  const known = before?.countedFor === countedFor ? before : undefined;
  if (known !== undefined && !isFew(known.total, run)) return known;
  if (Object.values(conditions).every((value) => value === undefined)) {
    return { total: run.results, countedFor };
  }
  using _permit = await searches.acquire(signal);
  const { q } = conditions;
  const traits = q === undefined ? undefined : await sampleTexts(query, run.id, q);
  // Each item is looked at one time; what an index counts is counted first.
  if (known === undefined && items === null) {
    const { sql, joins, values } = resultsFilter(conditions, 2);
    const [found] = await query<{ readonly total: number }>(
      `SELECT count(*)::float8 AS total FROM run_results result ${joins} WHERE result.run_id = $1 ${sql}`,
      [run.id, ...values],
    );
    const total = found?.total ?? 0;
    if (!isFew(total, run)) return { total, countedFor };
  }
  const parameters = new Parameters([run.id]);
  const all = allMatching({ runId: run.id, conditions, items }, parameters, undefined, traits);
  const [found] = await query<{ readonly total: number; readonly keys: readonly ResultPosition[] | null }>(
    `WITH matching AS MATERIALIZED (${all}), counted AS (SELECT count(*)::float8 AS total FROM matching)
     SELECT total, CASE WHEN total <= ${Math.ceil(run.results / 200)} THEN (
       SELECT json_agg(json_build_array(section_order_index, order_index, repetition)) FROM matching
     ) END AS keys FROM counted`,
    parameters.values,
  );
  const total = found?.total ?? 0;
  const keys = found?.keys ?? null;
  return { total, countedFor, ...(keys !== null && isFew(total, run) && { keys }) };
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
