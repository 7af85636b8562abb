import { RESULT_RANGES } from '@svc/jsonl-v23/internal';
import { Parameters } from '../../database/page.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import { isLabelOf } from '../labels/result-labels.ts';
import { joinItems } from '../read-items-at.ts';
import {
  orderBy,
  positionOf,
  type ResultKey,
  type ResultPosition,
  type ResultsFilter,
  type ResultsOrder,
} from '../run-results.ts';
import { scorerNumber } from '../write/result-counts.ts';
import { filterByKeys, GOT } from './results-filter.ts';
import { allMatching, KEY_ROW, type Matching } from './search-results.ts';

/** Adds a value to a statement and gives its placeholder. */
type Add = (value: unknown) => string;

/**
 * A text that no index has, by which results can be sorted: SQL about `run_results result`, or about the row `i` of `items`.
 */
interface SortedText {
  readonly ofResult?: string;
  readonly ofItem?: (add: Add) => string;
  /** Tables that `ofResult` needs besides. */
  readonly joins?: string;
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
    joins: `LEFT JOIN (SELECT DISTINCT ON (l.item_hash, l.output_hash) l.item_hash, l.output_hash, l.verdict FROM labels l
      WHERE l.verdict IS NOT NULL ORDER BY l.item_hash, l.output_hash, l.updated_at DESC, l.person COLLATE "C") AS judged
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

/**
 * SQL for a text that sorts as people expect of a JSON text: numbers by their size, also those in quotes, then texts by their
 * letters without regard to case.
 */
function sortable(json: string): string {
  const text = `btrim(left(${json}, ${MAX_TEXT}), '"')`;
  const format = `FM${'0'.repeat(WHOLE + 1)}.${'0'.repeat(PART)}`;
  return `(SELECT CASE WHEN t IS NULL OR t = 'null' THEN NULL
      WHEN t ~ '^-[0-9]{1,${WHOLE}}([.][0-9]{1,${PART}})?$' THEN '0' || to_char(1e${WHOLE} + t::numeric, '${format}')
      WHEN t ~ '^[0-9]{1,${WHOLE}}([.][0-9]{1,${PART}})?$' THEN '1' || to_char(t::numeric, '${format}')
      ELSE '2' || lower(t) END FROM (SELECT ${text} AS t) AS beginning) COLLATE "C"`;
}

interface SortedRow extends ResultKey {
  readonly sortValue: string | null;
}

export type SortedResults = readonly SortedRow[];

/**
 * Finds results in an order that no index has: the texts of all that pass are made and compared.
 *
 * @param request `afterValue`: as in `planResults`; `index`: how many results are before, from the beginning
 */
export async function findSorted(
  query: ReadQuery,
  matching: Matching,
  text: SortedText,
  request: {
    readonly after: ResultPosition;
    readonly afterValue: number | string | null | undefined;
    readonly index: number;
    readonly limit: number;
    readonly order: ResultsOrder;
  },
): Promise<SortedResults> {
  const { after, afterValue, index, limit, order } = request;
  const parameters = new Parameters([matching.runId]);
  const { add } = parameters;
  const { ofResult, ofItem, joins } = text;
  const all = allMatching(matching, parameters, ofResult ?? 'NULL::text', undefined, joins);
  const position = 'section_order_index, order_index, repetition';
  const named = position.replaceAll(/\w+/g, 'matching.$&');
  const join =
    ofItem === undefined || matching.items === null
      ? null
      : joinItems(matching.items, add, { rows: 'matching', sections: 'sorted_section' });
  const value = sortable(join === null || ofItem === undefined ? 'matching.sort_value' : ofItem(add));
  const sign = order.isDescending ? '<' : '>';
  const behind = (columns: string, ...values: readonly string[]): string =>
    `(${columns}) ${sign} (${[...values, ...after.map((part) => `${add(part)}::int`)].join(', ')})`;
  const isBehind =
    afterValue === undefined
      ? 'true'
      : afterValue === null
        ? `sort_value IS NULL AND ${behind(position)}`
        : `(sort_value IS NULL OR ${behind(`sort_value, ${position}`, `${add(String(afterValue))}::text COLLATE "C"`)})`;
  return await query<SortedRow>(
    `WITH matching AS MATERIALIZED (${all}) ${join === null ? '' : `, ${join.cte}`},
     valued AS (SELECT ${named}, ${value} AS sort_value FROM matching ${join === null ? '' : `${join.sections} ${join.items}`})
     SELECT ${KEY_ROW} FROM valued WHERE ${isBehind}
     ORDER BY ${orderBy(order)} OFFSET ${add(index)}::int LIMIT ${add(limit)}::int`,
    parameters.values,
  );
}

const WANTED_VALUE = { sql: 'wanted.value COLLATE "C"', type: 'text' } as const;

/** The filter of results that were found with the texts that they are sorted by. @param first number of its first parameter */
export const filterBySorted = (found: SortedResults, first: number): ResultsFilter =>
  filterByKeys(
    found.map(positionOf),
    first,
    found.map(({ sortValue }) => sortValue),
  );
