import { isIndex, pointerSteps } from '../../evaluation/index.ts';
import {
  boundedName,
  containing,
  insideJsonString,
  memberText,
  readableJson,
  readableText,
  searchableText,
} from '../database/values.ts';
import { ofVersion, versionNumber } from './item-ranges.ts';

/** Placeholders of the position to continue after, and of how many items to leave out behind it, and to find. */
export interface PagePosition {
  readonly afterSection: string;
  readonly afterItem: string;
  readonly offset: string;
  readonly limit: string;
}

/** The condition on `version_sections s`: dataset `$1`, version `$2` or the newest. */
const OF_VERSION = ofVersion('$1', '$2');

/**
 * Reads the next items of a version: where each is, in their order, with `total` and `version`; one row without an item where
 * the page is empty, and none if there is no such version.
 *
 * @param found ends with the CTEs `total (total)` and `page (section, item)`
 */
function readPage(found: string): string {
  return `${found}
    SELECT total.total, v.version, page.* FROM versions v CROSS JOIN total LEFT JOIN (
      SELECT ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex", page.item AS "orderIndex",
        s.part_ids[range] AS "partId", page.item - s.starts[range] + s.firsts[range] AS ordinal
      FROM page JOIN version_sections s ON ${OF_VERSION} AND s.order_index = page.section
        CROSS JOIN LATERAL width_bucket(page.item, s.starts) AS range
    ) AS page ON true
    WHERE v.dataset_id = $1 AND v.version = ${versionNumber('$1', '$2')}
    ORDER BY "sectionOrderIndex", "orderIndex"`;
}

/**
 * Finds the next items of a version, as {@link readPage} reads them. Their positions follow from the sizes of the sections.
 */
export function allItems(ofSection: string, { afterSection, afterItem, offset, limit }: PagePosition) {
  return readPage(`WITH total AS (
    SELECT sum(s.item_count) AS total FROM version_sections s WHERE ${OF_VERSION} ${ofSection}
  ), page AS (
    SELECT section, item FROM (
      SELECT s.*, sum(s.item_count - s.first) OVER (ORDER BY s.order_index) - (s.item_count - s.first) AS before FROM (
        SELECT s.order_index, s.item_count,
          least(CASE WHEN s.order_index = ${afterSection}::int THEN ${afterItem}::int + 1 ELSE 0 END, s.item_count) AS first
        FROM version_sections s WHERE ${OF_VERSION} AND s.order_index >= ${afterSection}::int ${ofSection}
      ) s
    ) s CROSS JOIN LATERAL (SELECT s.first + greatest(0, ${offset}::int - s.before) AS start) AS wanted
    CROSS JOIN LATERAL (
      SELECT s.order_index AS section, item::int
      FROM generate_series(wanted.start, least(s.item_count, wanted.start + ${limit}::int) - 1) AS item
    ) next
    WHERE s.before < ${offset}::bigint + ${limit}::int
    ORDER BY section, item LIMIT ${limit}
  )`);
}

/** Finds the next items of a query, as {@link readPage} reads them. The total needs all items of the query. */
export function matchingItems(matching: string, { afterSection, afterItem, offset, limit }: PagePosition) {
  return readPage(`WITH matching AS MATERIALIZED (
    SELECT section, order_index AS item FROM ${matching} AS found
  ), total AS (
    SELECT count(*) AS total FROM matching
  ), page AS (
    SELECT section, item FROM matching WHERE (section, item) > (${afterSection}::int, ${afterItem}::int)
    ORDER BY section, item LIMIT ${limit} OFFSET ${offset}
  )`);
}

export interface ItemCondition {
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  /** Items whose `id` is this text, or the integer that it spells. */
  readonly itemId?: string | undefined;
  readonly itemHash?: string | undefined;
  /** Part of the item's JSON text without its assets, case-insensitive. */
  readonly q?: string | undefined;
  readonly values?: readonly StatedValue[] | undefined;
}

const INTEGER = /^(?:0|-?[1-9]\d{0,99})$/;

export function itemFilter(
  { type, tag, itemId, itemHash, q, values = [] }: ItemCondition,
  maxItemBytes: number,
  parameter: (value: unknown) => string,
): string {
  const filters: string[] = [];
  if (type !== undefined) filters.push(`AND i.type = ${parameter(insideJsonString(type))}`);
  if (itemHash !== undefined) filters.push(`AND i.item_hash = decode(${parameter(itemHash)}, 'hex')`);
  if (itemId !== undefined) {
    const ids = [`"${insideJsonString(itemId)}"`, ...(INTEGER.test(itemId) ? [itemId] : [])];
    filters.push(`AND i.item_id = ANY(${parameter(ids)}::text[])`);
  }
  if (tag !== undefined) {
    const stated = `${readableJson('i.payload')} -> 'tags'`;
    const tags = `CASE WHEN json_typeof(${stated}) = 'array' THEN ${stated} END`;
    const hasTag = `EXISTS (SELECT FROM json_array_elements(${tags}) one WHERE ${memberText('one')} = ${parameter(`"${insideJsonString(tag)}"`)})`;
    filters.push(`AND CASE WHEN i.byte_length <= ${maxItemBytes} THEN ${hasTag} ELSE false END`);
  }
  for (const value of values) {
    filters.push(
      `AND CASE WHEN i.byte_length <= ${maxItemBytes} THEN ${hasValue(value, parameter)} ELSE false END`,
    );
  }
  if (q !== undefined) {
    const wanted = insideJsonString(q);
    const contains = containing(wanted, parameter(wanted));
    // An item that is too large is not searched either.
    const parts = ['payload', 'answer', 'checker'].map((part) => contains(`i.${part}::text`));
    filters.push(`AND CASE WHEN i.byte_length <= ${maxItemBytes} THEN ${parts.join(' OR ')} ELSE false END`);
  }
  return filters.join(' ');
}

const COLUMNS: ReadonlySet<string> = new Set(['answer', 'checker', 'assets']);

/** What `#>` takes for the index of an element, `-1` for the last one. */
const NUMBER = /^\s*[+-]?\d+$/;

/** SQL for the JSON text of the value at a JSON Pointer in item `i`; null without one. */
export function itemValue(pointer: string, add: (value: unknown) => string): string {
  const [first = '', ...rest] = pointerSteps(pointer);
  const [column, steps] = COLUMNS.has(first) ? [first, rest] : ['payload', [first, ...rest]];
  let value = readableJson(`i.${column}`);
  let path: string[] = [];
  for (const step of steps.map(readableText)) {
    if (isIndex(step) || !NUMBER.test(step)) path.push(step);
    else {
      value = `(${value} #> ${add(path)}::text[] -> ${add(step)}::text)`;
      path = [];
    }
  }
  return memberText(`${value} #> ${add(path)}::text[]`);
}

export interface StatedValue {
  readonly pointer: string;
  readonly value: string;
}

export function hasValue({ pointer, value }: StatedValue, add: (value: unknown) => string): string {
  const found = itemValue(pointer, add);
  const text = searchableText(value);
  const stated = [add(JSON.stringify(text)), add(text)];
  // To find the value anywhere in the item costs a fraction of reading it.
  const hasEscapes = JSON.stringify(text) !== `"${text}"`;
  const [first = ''] = pointerSteps(pointer);
  const column = COLUMNS.has(first) ? first : 'payload';
  const isAnywhere = (hasEscapes ? stated : stated.slice(1))
    .map((one) => `position(${one}::text IN i.${column}::text) > 0`)
    .join(' OR ');
  return `CASE WHEN ${isAnywhere} THEN ${found} IN (${stated.join(', ')}) ELSE false END`;
}
