import { isJsonField, RESULT_FIELD_LIST, type ResultField, type ResultTexts } from '@svc/jsonl-v23/runs';
import { EAGER_BYTES, MAX_PAGE_BYTES } from '../database/page.ts';
import { boundedName, boundedText, itemTooLarge } from '../database/values.ts';
import { type ItemPosition, positionColumns } from '../items/item-ranges.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { readResultLabels, type StoredLabel } from './labels/result-labels.ts';

/** A result as it is stored: what was JSON is JSON text. */
export interface StoredResult extends ResultTexts {
  /** Whether it is larger than a result may be: then it has none of its texts. */
  readonly isTooLarge: boolean;
  /** SHA-256 of the output, which its labels belong to; null without an output. */
  readonly outputHash: Uint8Array | null;
  /** What the list is sorted by; null without a value, or in item order. */
  readonly sortValue?: number | string | null;
}

export interface LabelledResult extends StoredResult {
  readonly labels: readonly StoredLabel[];
}

/** The position of a result, after which a list continues. */
export type ResultPosition = readonly [sectionOrderIndex: number, orderIndex: number, repetition: number];

const as = (sql: string, { name }: { readonly name: string }): string => `${sql} AS "${name}"`;

/** Texts of a result, which a larger one than may be is shown without. */
const TEXTS = RESULT_FIELD_LIST.filter(isJsonField);
/** The other columns of a result, out of `sized`. */
const FACTS = RESULT_FIELD_LIST.filter((field) => !isJsonField(field))
  .map((field) => as(factOf(field), field))
  .join(', ');
const BATCH_ROWS = 1_000;

export interface ResultKey extends ItemPosition {
  readonly repetition: number;
}

/** A result as lists name it beside what they say of it. */
export interface NamedResult extends ResultKey {
  readonly section: string;
  /** JSON text; null without an id. */
  readonly itemId: string | null;
  readonly itemHash: Uint8Array;
}

/** The columns of a {@link NamedResult} of rows `of` of `run_results`. */
export const namedResult = (of: string): string => `${boundedName(`${of}.section`)} AS section,
  ${of}.section_order_index AS "sectionOrderIndex", ${of}.order_index AS "orderIndex", ${of}.repetition,
  ${boundedText(`${of}.item_id`, 1_000)} AS "itemId", ${of}.item_hash AS "itemHash"`;

export function positionOf(result: ResultKey): ResultPosition {
  return [result.sectionOrderIndex, result.orderIndex, result.repetition];
}

export function keyColumns(
  results: readonly ResultKey[],
): [sections: number[], items: number[], repetitions: number[]] {
  return [...positionColumns(results), results.map(({ repetition }) => repetition)];
}

export interface ResultsFilter {
  /** Conditions that begin with AND. */
  readonly sql: string;
  /** Tables that the conditions need besides `run_results result`. */
  readonly joins: string;
  readonly values: readonly unknown[];
}

const NO_FILTER: ResultsFilter = { sql: '', joins: '', values: [] };

/** The order of a list of results. Those without a value come last in either direction; equal ones are in item order. */
export interface ResultsOrder {
  /** SQL about `run_results result`, with an index unless the results are few; null for item order. */
  readonly value: { readonly sql: string; readonly type: 'float8' | 'int' | 'text' } | null;
  /** Reverses the whole order, but for results without a value. */
  readonly isDescending: boolean;
}

const ITEM_ORDER: ResultsOrder = { value: null, isDescending: false };
const POSITION = ['section_order_index', 'order_index', 'repetition'];

/** All columns of a result, and the bytes of its texts. */
const WHOLE = `result.*, ${TEXTS.map(({ wire }) => `coalesce(octet_length(result.${wire}), 0)::bigint`).join(' + ')} AS bytes`;

/**
 * SQL for the results behind a position, in order, with their `sort_value`: `$1` the run, `$2` to `$4` the position, `$5`
 * the limit. Those with a value and those without are two ranges of indexes; the second is read where the first ends.
 *
 * @param columns SQL about `run_results result`
 * @param afterValue placeholder of the value at the position; null without a value there, undefined at the beginning
 */
export function candidates(
  { value, isDescending }: ResultsOrder,
  { sql, joins }: ResultsFilter,
  columns: string,
  afterValue: string | null | undefined,
): string {
  const sign = isDescending ? '<' : '>';
  const positions = POSITION.map((name) => `result.${name}`);
  const scan = (condition: string, by: readonly string[]): string => `
    SELECT ${columns}, ${value?.sql ?? 'NULL::float8'} AS sort_value
    FROM run_results result ${joins} WHERE result.run_id = $1 ${condition} ${sql}
    ORDER BY ${by.map((name) => `${name}${isDescending ? ' DESC' : ''}`).join(', ')} LIMIT $5`;
  const behind = `AND (${positions.join(', ')}) ${sign} ($2::int, $3::int, $4::int)`;
  if (value === null) return scan(behind, positions);
  const start = 'AND coalesce($2::int, $3::int, $4::int) IS NOT NULL';
  const withoutValue = `AND ${value.sql} IS NULL`;
  if (afterValue === null) return scan(`${withoutValue} ${behind}`, positions);
  const sorted = [value.sql, ...positions];
  const behindValue = `AND (${sorted.join(', ')}) ${sign} (${afterValue}::${value.type}, $2::int, $3::int, $4::int)`;
  const isBehind = afterValue === undefined ? start : behindValue;
  return `
    WITH valued AS MATERIALIZED (${scan(`AND ${value.sql} IS NOT NULL ${isBehind}`, sorted)})
    SELECT * FROM valued
    UNION ALL SELECT * FROM (${scan(withoutValue, positions)}) AS others WHERE (SELECT count(*) FROM valued) < $5`;
}

/** Finds the result at an offset of an order: what {@link planResults} continues after; undefined beyond the end. */
export async function findResultAt(
  query: ReadQuery,
  request: {
    readonly runId: string;
    readonly index: number;
    /** Conditions on `run_results result`, their values from $3 on. */
    readonly filter: ResultsFilter;
    readonly order: ResultsOrder;
  },
): Promise<{ readonly after: ResultPosition; readonly afterValue: number | null } | undefined> {
  const { runId, index, filter, order } = request;
  const [found] = await query<ResultKey & { readonly sortValue: number | null }>(
    `SELECT section_order_index AS "sectionOrderIndex", order_index AS "orderIndex", repetition, sort_value AS "sortValue"
     FROM (${resultAt(order, filter)}) AS found`,
    [runId, index, ...filter.values],
  );
  return found === undefined ? undefined : { after: positionOf(found), afterValue: found.sortValue };
}

/**
 * SQL for it: `$1` the run, `$2` how many are before it. Indexes are read up to it where the filter allows; to keep or sort
 * what is before it takes several times as long.
 */
function resultAt({ value, isDescending }: ResultsOrder, { sql, joins }: ResultsFilter): string {
  const positions = POSITION.map((name) => `result.${name}`);
  const from = (condition: string): string =>
    `FROM run_results result ${joins} WHERE result.run_id = $1 ${condition} ${sql}`;
  const scan = (condition: string, by: readonly string[], offset: string): string => `
    SELECT ${positions.join(', ')}, ${value?.sql ?? 'NULL::float8'} AS sort_value ${from(condition)}
    ORDER BY ${by.map((name) => `${name}${isDescending ? ' DESC' : ''}`).join(', ')} OFFSET ${offset} LIMIT 1`;
  if (value === null) return scan('', positions, '$2::int');
  const withValue = `AND ${value.sql} IS NOT NULL`;
  const others = `greatest(0, $2::int - (SELECT count(*) ${from(withValue)}))`;
  return `
    WITH valued AS MATERIALIZED (${scan(withValue, [value.sql, ...positions], '$2::int')})
    SELECT * FROM valued
    UNION ALL SELECT * FROM (${scan(`AND ${value.sql} IS NULL`, positions, others)}) AS others WHERE NOT EXISTS (SELECT FROM valued)`;
}

/** SQL for the order of rows with the columns of {@link candidates}. */
export function orderBy({ value, isDescending }: ResultsOrder): string {
  const names = value === null ? POSITION : ['sort_value', ...POSITION];
  const sorted = names.map((name) => `${name}${isDescending ? ' DESC' : ''}`).join(', ');
  return value === null ? sorted : `sort_value IS NULL, ${sorted}`;
}

/** Results behind a position: as many as fit into a page, and one at least. */
interface PlannedResults {
  readonly results: readonly StoredResult[];
  readonly hasMore: boolean;
  /** Bytes of the texts that are yet to be read; {@link readPlannedResults} reads them */
  readonly unreadBytes: number;
}

type ResultRow = StoredResult & { readonly bytes: string; readonly isRead: boolean };

/**
 * Results behind a position: at most `limit`, and fewer when they are large. Those at the beginning have their texts;
 * {@link readPlannedResults} reads those of the others.
 */
export async function planResults(
  query: ReadQuery,
  request: {
    readonly runId: string;
    readonly after: ResultPosition;
    readonly limit: number;
    readonly maxBytes: number;
    /** Conditions on `run_results result`, their values from $7 on. */
    readonly filter?: ResultsFilter | undefined;
    readonly order?: ResultsOrder | undefined;
    /** The value of `order` at `after`: null without one there, undefined at the beginning. */
    readonly afterValue?: number | string | null | undefined;
  },
): Promise<PlannedResults> {
  const { runId, after, limit, maxBytes, filter = NO_FILTER, order = ITEM_ORDER, afterValue } = request;
  const hasValue = order.value !== null && afterValue != null;
  const placeholder = hasValue ? `$${7 + filter.values.length}` : (afterValue as null | undefined);
  const rows = await query<ResultRow>(
    `SELECT ${FACTS}, bytes, "isRead", bytes > $6 AS "isTooLarge", output_hash AS "outputHash", sort_value AS "sortValue",
       ${TEXTS.map((text) => as(`CASE WHEN "isRead" THEN ${text.wire} END`, text)).join(', ')}
     FROM (
       SELECT candidate.*, bytes <= $6 AND sum(bytes) OVER (ORDER BY ${orderBy(order)}) <= ${EAGER_BYTES} AS "isRead"
       FROM (
         SELECT * FROM (${candidates(order, filter, WHOLE, placeholder)}) AS found
         ORDER BY ${orderBy(order)} LIMIT $5
       ) candidate
     ) sized ORDER BY ${orderBy(order)}`,
    [runId, ...after, limit + 1, maxBytes, ...filter.values, ...(hasValue ? [afterValue] : [])],
  );
  const results: ResultRow[] = [];
  let pageBytes = 0;
  let unreadBytes = 0;
  for (const row of rows.slice(0, limit)) {
    const bytes = row.isTooLarge ? 0 : Number(row.bytes);
    pageBytes += bytes + Buffer.byteLength(row.section) + RESULT_BYTES;
    if (results.length > 0 && pageBytes > MAX_PAGE_BYTES) break;
    if (!row.isRead) unreadBytes += bytes;
    results.push(row);
  }
  return { results, hasMore: rows.length > results.length, unreadBytes };
}

/** Bytes of a result without its texts, as JSON. */
const RESULT_BYTES = 512;

function factOf({ wire, kind }: ResultField): string {
  if (kind === 'text') return boundedName(wire);
  return kind === 'name' ? boundedText(wire, 1_000) : wire;
}

/** Reads the texts of those results that lack them. */
export async function readPlannedResults(
  query: ReadQuery,
  runId: string,
  { results }: PlannedResults,
): Promise<StoredResult[]> {
  const unread = (results as readonly ResultRow[]).filter(({ isRead, isTooLarge }) => !isRead && !isTooLarge);
  const texts = new Map<StoredResult, Partial<StoredResult>>();
  if (unread.length > 0) {
    const rows = await query<{ readonly position: string }>(
      `SELECT wanted.position, ${TEXTS.map((text) => as(text.wire, text)).join(', ')}
       FROM unnest($2::int[], $3::int[], $4::int[]) WITH ORDINALITY AS wanted (section, item, repetition, position)
         JOIN run_results ON run_id = $1 AND section_order_index = wanted.section
           AND order_index = wanted.item AND run_results.repetition = wanted.repetition`,
      [runId, ...keyColumns(unread)],
    );
    for (const { position, ...row } of rows) texts.set(unread[Number(position) - 1] as StoredResult, row);
  }
  return (results as readonly ResultRow[]).map((row) => {
    const { bytes: _, isRead: __, ...result } = row;
    return { ...result, ...texts.get(row) };
  });
}

/** All results of a run in item order, in batches. @throws StoreError `item_too_large`: an export must not be short */
export async function* readResults(
  query: ReadQuery,
  runId: string,
  maxBytes: number,
): AsyncGenerator<readonly LabelledResult[], void, undefined> {
  let after: ResultPosition = [-1, -1, -1];
  for (;;) {
    const plan = await planResults(query, { runId, after, limit: BATCH_ROWS, maxBytes });
    const results = await readPlannedResults(query, runId, plan);
    const tooLarge = results.find(({ isTooLarge }) => isTooLarge);
    if (tooLarge !== undefined) throw itemTooLarge('The result of item', tooLarge, maxBytes);
    const labelled = await readResultLabels(query, results);
    const last = labelled.at(-1);
    if (last !== undefined) {
      yield labelled;
      after = positionOf(last);
    }
    if (!plan.hasMore && labelled.length === results.length) return;
  }
}
