import { createHash } from 'node:crypto';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import type { JoinedVersion } from '../read-items-at.ts';
import {
  candidates,
  orderBy,
  positionOf,
  type ResultKey,
  type ResultPosition,
  type ResultsOrder,
} from '../run-results.ts';
import {
  isBeyondAscii,
  itemSearch,
  type ResultsConditions,
  resultsFilter,
  sampleKey,
  searchItems,
  type TextTraits,
  wantedText,
} from './results-filter.ts';

export interface Matching {
  readonly runId: string;
  readonly conditions: ResultsConditions;
  /** Version of the run's items; null if no condition is on items. */
  readonly items: JoinedVersion | null;
}

/** Results that are compared with their items together: the first time, and later. */
const FIRST_BLOCK = 200;
const MAX_BLOCK = 10_000;

const KEY = 'result.section_order_index, result.order_index, result.repetition';

interface KeyRow extends ResultKey {
  readonly sortValue: number | null;
}
/** The columns of a position and what its list is sorted by, as rows of {@link allMatching} have them. */
export const KEY_ROW = `section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition, sort_value AS "sortValue"`;

/**
 * SQL for all results that pass, in no order: rows with `section_order_index`, `order_index`, `repetition` and `sort_value`.
 *
 * @param parameters whose first one is the run
 * @param joins tables that `value` needs
 */
export function allMatching(
  { conditions, items }: Matching,
  parameters: Parameters,
  value = 'NULL::float8',
  traits?: TextTraits,
  joins = '',
): string {
  const filter = resultsFilter(conditions, parameters.values.length + 1);
  for (const given of filter.values) parameters.add(given);
  const search = itemSearch(conditions, parameters.add, traits);
  const select = (others: string): string =>
    `SELECT ${KEY}, ${value} AS sort_value${others} FROM run_results result ${filter.joins} ${joins} WHERE result.run_id = $1 ${filter.sql}`;
  if (search === null || items === null) return select('');
  const all = select(`, ${search.hasText ?? 'false'} AS has_text`);
  return searchItems(search, all, items, parameters.add, { withCandidates: false });
}

/** The order of a sample, which the seed alone decides. */
export const sampleOrder = (seed: number): ResultsOrder => ({
  value: { sql: sampleKey(seed), type: 'float8' },
  isDescending: false,
});

/** The key of the last result of a sample; null if fewer results pass. */
export async function lastSampleKey(
  query: ReadQuery,
  matching: Matching,
  { n, seed }: NonNullable<ResultsConditions['sample']>,
): Promise<number | null> {
  const last = await findMatchingAt(query, matching, { index: n - 1, order: sampleOrder(seed) });
  return last?.afterValue ?? null;
}

/** As `findResultAt` for results that are compared with their items. */
export async function findMatchingAt(
  query: ReadQuery,
  matching: Matching,
  { index, order }: { readonly index: number; readonly order: ResultsOrder },
): Promise<{ readonly after: ResultPosition; readonly afterValue: number | null } | undefined> {
  const parameters = new Parameters([matching.runId]);
  const all = allMatching(matching, parameters, order.value?.sql);
  const [found] = await query<KeyRow>(
    `SELECT ${KEY_ROW} FROM (${all}) AS found ORDER BY ${orderBy(order)} OFFSET ${parameters.add(index)}::int LIMIT 1`,
    parameters.values,
  );
  return found === undefined ? undefined : { after: positionOf(found), afterValue: found.sortValue };
}

/** Finds the next matching results, in order: reads blocks of results, and compares each block with its items. */
export async function findMatchingBehind(
  query: ReadQuery,
  { runId, conditions, items }: Matching & { readonly items: JoinedVersion },
  request: {
    readonly after: ResultPosition;
    /** As in `planResults`. */
    readonly afterValue: number | null | undefined;
    readonly limit: number;
    readonly order: ResultsOrder;
  },
): Promise<readonly ResultPosition[]> {
  const { limit, order } = request;
  const found: ResultPosition[] = [];
  let { after, afterValue } = request;
  for (let size = Math.max(FIRST_BLOCK, limit); ; size = Math.min(4 * size, MAX_BLOCK)) {
    const filter = resultsFilter(conditions, 6);
    const parameters = new Parameters([runId, ...after, size, ...filter.values]);
    const search = itemSearch(conditions, parameters.add);
    if (search === null) throw new Error('The results need not be compared with their items.');
    const placeholder = typeof afterValue === 'number' ? parameters.add(afterValue) : afterValue;
    const columns = `${KEY}, ${search.hasText ?? 'false'} AS has_text`;
    const block = candidates(order, filter, columns, placeholder);
    const searched = searchItems(search, block, items, parameters.add, { withCandidates: true });
    const rows = await query<KeyRow & { readonly passes: boolean }>(
      `SELECT ${KEY_ROW}, bool_or(passes) AS passes FROM (${searched}) AS found
       GROUP BY section_order_index, order_index, repetition, sort_value ORDER BY ${orderBy(order)}`,
      parameters.values,
    );
    for (const row of rows) if (row.passes) found.push(positionOf(row));
    const last = rows.at(-1);
    if (found.length >= limit || last === undefined || rows.length < size) return found.slice(0, limit);
    after = positionOf(last);
    afterValue = last.sortValue;
  }
}

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
