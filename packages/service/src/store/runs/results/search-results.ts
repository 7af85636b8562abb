import { createHash } from 'node:crypto';
import { RESULT_RANGES } from '@svc/jsonl-v23/runs';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { andSeesLabel, isLabelOf } from '../labels/result-labels.ts';
import { type JoinedVersion, joinItems } from '../read-items-at.ts';
import {
  candidates,
  orderBy,
  positionOf,
  type ResultKey,
  type ResultPosition,
  type ResultsFilter,
  type ResultsOrder,
} from '../run-results.ts';
import { scorerNumber } from '../write/insert-results.ts';
import {
  filterByKeys,
  GOT,
  itemSearch,
  type ResultsConditions,
  resultsFilter,
  sampleKey,
  searchItems,
} from './results-filter.ts';

export interface Matching {
  readonly runId: string;
  readonly conditions: ResultsConditions;
  /** Version of the run's items; null if they are not needed. */
  readonly items: JoinedVersion | null;
}

/** Whether results have to be compared with their items. */
export const areOnItems = ({ q, values = [] }: ResultsConditions): boolean =>
  q !== undefined || values.length > 0;

/** Results that are compared with their items together: the first time, and later. */
const FIRST_BLOCK = 200;
const MAX_BLOCK = 10_000;

const KEY = 'result.section_order_index, result.order_index, result.repetition';

interface KeyRow extends ResultKey {
  /** What the list is sorted by; null without a value, or in item order. */
  readonly sortValue: number | string | null;
}
/** The columns of a position and what its list is sorted by, as rows of {@link allMatching} have them. */
const KEY_ROW = `section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition, sort_value AS "sortValue"`;

/**
 * SQL for all results that pass, in no order: rows with `section_order_index`, `order_index`, `repetition` and `sort_value`.
 *
 * @param parameters whose first one is the run
 * @param joins tables that `value` needs
 */
function allMatching(
  { conditions, items }: Matching,
  parameters: Parameters,
  value = 'NULL::float8',
  joins = '',
): string {
  const filter = resultsFilter(conditions, parameters.values.length + 1);
  for (const given of filter.values) parameters.add(given);
  const search = itemSearch(conditions, parameters.add);
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

/** Finds the next matching results, in order: reads blocks of results, and compares each block with its items. */
export async function findMatchingBehind(
  query: ReadQuery,
  { runId, conditions, items }: Matching,
  request: {
    readonly after: ResultPosition;
    /** As in `planResults`. */
    readonly afterValue: number | string | null | undefined;
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
    if (search === null || items === null)
      throw new Error('The results need not be compared with their items.');
    const placeholder = afterValue == null ? afterValue : parameters.add(afterValue);
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

interface MatchingResults extends ResultsTotal {
  /** All of them, in any order, where they are {@link isFew few}. */
  readonly keys?: readonly ResultPosition[];
}

/** Whether a pass over all results is faster than an index of another order. */
const isFew = (total: number, { results }: RunTotals): boolean => total > 0 && total * 200 <= results;

/** Counts the results of a filter, unless a page `before` did, and finds the few of a filter that passes few. */
export async function countResults(
  query: ReadQuery,
  searches: StoreContext['searches'],
  run: RunTotals,
  matching: Matching,
  before: ResultsTotal | undefined,
  signal: AbortSignal | undefined,
): Promise<MatchingResults> {
  const { conditions } = matching;
  const countedFor = keyOf(run, conditions);
  const known = before?.countedFor === countedFor ? before : undefined;
  if (known !== undefined && !isFew(known.total, run)) return known;
  if (Object.values(conditions).every((value) => value === undefined)) {
    return { total: run.results, countedFor };
  }
  using _permit = await searches.acquire(signal);
  // Each item is looked at one time; what an index counts is counted first.
  if (known === undefined && !areOnItems(conditions)) {
    const { sql, joins, values } = resultsFilter(conditions, 2);
    const [found] = await query<{ readonly total: number }>(
      `SELECT count(*)::float8 AS total FROM run_results result ${joins} WHERE result.run_id = $1 ${sql}`,
      [run.id, ...values],
    );
    const total = found?.total ?? 0;
    if (!isFew(total, run)) return { total, countedFor };
  }
  const parameters = new Parameters([run.id]);
  const all = allMatching(matching, parameters);
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

function keyOf(run: RunTotals, conditions: ResultsConditions): string {
  const text = JSON.stringify([run.id, run.version, conditions]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/**
 * A text that no index has, by which results can be sorted: SQL about `run_results result`, or about the row `i` of `items`.
 */
interface SortedText {
  readonly ofResult?: string;
  readonly ofItem?: (add: Parameters['add']) => string;
  /** Tables that `ofResult` needs besides, as far as the actor sees them. */
  readonly joins?: () => string;
}

const VALUES: Readonly<Record<string, ResultsOrder['value']>> = {
  order: null,
  ...Object.fromEntries(
    Object.entries(RESULT_RANGES).map(([name, { column, type }]) => [
      name,
      { sql: `result.${column}`, type },
    ]),
  ),
};

const TEXTS: Readonly<Record<string, SortedText>> = {
  question: {
    ofItem: (add) => `coalesce(${itemValue('/inputs/prompt', add)}, ${itemValue('/inputs/messages', add)})`,
  },
  expected: { ofItem: () => 'i.answer::text' },
  got: { ofResult: GOT },
  tags: { ofResult: `nullif(array_to_string(result.tags, ', '), '')` },
  type: { ofResult: 'result.item_type' },
  label: {
    ofResult: 'judged.verdict',
    joins:
      () => `LEFT JOIN (SELECT DISTINCT ON (l.item_hash, l.output_hash) l.item_hash, l.output_hash, l.verdict FROM labels l
      WHERE l.verdict IS NOT NULL${andSeesLabel('l')} ORDER BY l.item_hash, l.output_hash, l.updated_at DESC, l.person COLLATE "C") AS judged
      ON ${isLabelOf('judged')}`,
  },
};

/** What results can be sorted by, besides the score of a scorer and a value of the metadata. */
export const RESULTS_SORTS: readonly string[] = [...Object.keys(VALUES), ...Object.keys(TEXTS)];

/** What a list of results is sorted by; `-` before it for descending. */
export type ResultsSort = string;

const textOf = (column: string): SortedText | null => {
  const pointer = /^meta\.(.+)$/s.exec(column)?.[1];
  return pointer === undefined
    ? (TEXTS[column] ?? null)
    : { ofItem: (add) => itemValue(`/meta${pointer}`, add) };
};

/** Whether an order is by a text, which no index has. */
export const isSortedByText = (sort: ResultsSort): boolean => textOf(sort.replace(/^-/, '')) !== null;

/** How a list is sorted: by what an index has, or by a text that is made for all its results. */
export interface ResultsSorting {
  readonly order: ResultsOrder;
  /** Null if an index has the order. */
  readonly text: SortedText | null;
}

/** @param sort one of {@link RESULTS_SORTS}, `scorer:<name>` or `meta.<pointer>`, perhaps after `-` */
export function sortingOf(sort: ResultsSort, scorerNames: string | null): ResultsSorting {
  const isDescending = sort.startsWith('-');
  const column = isDescending ? sort.slice(1) : sort;
  const scorer = /^scorer:(.+)$/s.exec(column)?.[1];
  const text = textOf(column);
  if (text !== null) return { order: { value: WANTED_VALUE, isDescending }, text };
  const number = scorer === undefined ? null : scorerNumber(scorerNames, scorer);
  const named = VALUES[scorer === undefined ? column : 'score'] ?? null;
  const value =
    number === null ? named : ({ sql: `result.scorer_scores[${number}]`, type: 'float8' } as const);
  return { order: { value, isDescending }, text: null };
}

/** Characters that decide where a text is. */
const MAX_TEXT = 200;

/** Digits before and after the point of numbers that are compared as such. */
const [WHOLE, PART] = [15, 9] as const;

/** SQL that sorts a JSON text as people expect: numbers by size, then texts without regard to case. */
function sortable(json: string): string {
  const text = `btrim(left(${json}, ${MAX_TEXT}), '"')`;
  const format = `FM${'0'.repeat(WHOLE + 1)}.${'0'.repeat(PART)}`;
  return `(SELECT CASE WHEN t IS NULL OR t = 'null' THEN NULL
      WHEN t ~ '^-[0-9]{1,${WHOLE}}([.][0-9]{1,${PART}})?$' THEN '0' || to_char(1e${WHOLE} + t::numeric, '${format}')
      WHEN t ~ '^[0-9]{1,${WHOLE}}([.][0-9]{1,${PART}})?$' THEN '1' || to_char(t::numeric, '${format}')
      ELSE '2' || lower(t) END FROM (SELECT ${text} AS t) AS beginning) COLLATE "C"`;
}

/** Before everything, in an order that its results have with them. */
export const BEGINNING: Pick<OrderedRequest, 'after' | 'afterValue'> = {
  after: [-1, -1, -1],
  afterValue: undefined,
};

interface OrderedRequest extends ResultsSorting {
  readonly after: ResultPosition;
  /** As in `planResults`. */
  readonly afterValue: number | string | null | undefined;
  /** How many results behind that to leave out; none without it. */
  readonly index?: number;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** Finds results in an order that no index has for them: what all that pass are sorted by is made and compared. */
export async function findOrdered(
  { pool, searches }: StoreContext,
  matching: Matching,
  { after, afterValue, index = 0, limit, order, text, signal }: OrderedRequest,
): Promise<readonly KeyRow[]> {
  using _permit = await searches.acquire(signal);
  const parameters = new Parameters([matching.runId]);
  const { add } = parameters;
  const { ofItem, joins } = text ?? {};
  const ofResult = text === null ? order.value?.sql : text.ofResult;
  const all = allMatching(matching, parameters, ofResult ?? 'NULL::text', joins?.());
  const position = 'section_order_index, order_index, repetition';
  const named = position.replaceAll(/\w+/g, 'matching.$&');
  const join =
    ofItem === undefined || matching.items === null
      ? null
      : joinItems(matching.items, add, { rows: 'matching', sections: 'sorted_section' });
  const made = join === null || ofItem === undefined ? 'matching.sort_value' : ofItem(add);
  const sign = order.isDescending ? '<' : '>';
  const behind = (columns: string, ...values: readonly string[]): string =>
    `(${columns}) ${sign} (${[...values, ...after.map((part) => `${add(part)}::int`)].join(', ')})`;
  const isBehind =
    afterValue === undefined
      ? 'true'
      : afterValue === null
        ? `sort_value IS NULL AND ${behind(position)}`
        : `(sort_value IS NULL OR ${behind(`sort_value, ${position}`, `${add(String(afterValue))}::text COLLATE "C"`)})`;
  // Only a text, which costs more to make than to keep, is kept for each result before they are sorted.
  const kept = text === null ? '' : 'MATERIALIZED';
  return await createReadQuery(pool, signal)<KeyRow>(
    `WITH matching AS ${kept} (${all}) ${join === null ? '' : `, ${join.cte}`},
     valued AS (SELECT ${named}, ${text === null ? made : sortable(made)} AS sort_value
       FROM matching ${join === null ? '' : `${join.sections} ${join.items}`})
     SELECT ${KEY_ROW} FROM valued WHERE ${isBehind}
     ORDER BY ${orderBy(order)} OFFSET ${add(index)}::int LIMIT ${add(limit)}::int`,
    parameters.values,
  );
}

const WANTED_VALUE = { sql: 'wanted.value COLLATE "C"', type: 'text' } as const;

/** The filter of results that were found with the texts that they are sorted by. @param first number of its first parameter */
export const filterBySorted = (found: readonly KeyRow[], first: number): ResultsFilter =>
  filterByKeys(
    found.map(positionOf),
    first,
    found.map(({ sortValue }) => sortValue as string | null),
  );
