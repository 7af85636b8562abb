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
  itemSearch,
  type ResultsConditions,
  resultsFilter,
  sampleKey,
  searchItems,
  type TextTraits,
} from './results-filter.ts';

/** Results of a run that pass conditions. */
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
