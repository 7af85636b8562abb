import {
  containsPattern,
  hasOtherCases,
  insideJsonString,
  memberText,
  readableJson,
} from '../database/values.ts';
import { foundByHash } from './hash-blocks.ts';
import { itemsOf, ofVersion, versionNumber } from './version-sql.ts';

/** Placeholders of the position to continue after, and of the number of items to find. */
export interface PagePosition {
  readonly afterSection: string;
  readonly afterItem: string;
  readonly limit: string;
}

/** The condition on `version_sections s`: dataset `$1`, version `$2` or the newest. */
const OF_VERSION = ofVersion('$1', '$2');

/** After the list of columns: one row if there is such a version. */
const FROM_VERSION = `FROM versions WHERE dataset_id = $1 AND version = ${versionNumber('$1', '$2')}`;

/**
 * Finds the next items of a version: `counted (total, version)` and `page (section, item)`. Each section reads its next rows by the
 * primary key of `items`.
 *
 * @param ofSection condition on `version_sections s`
 */
export function allItems(ofSection: string, { afterSection, afterItem, limit }: PagePosition): string {
  return `WITH counted AS (
    SELECT (SELECT sum(s.item_count) FROM version_sections s WHERE ${OF_VERSION} ${ofSection}) AS total, version ${FROM_VERSION}
  ), page AS (
    SELECT section, item FROM (
      SELECT s.*, sum(s.item_count - s.first) OVER (ORDER BY s.order_index) - (s.item_count - s.first) AS before FROM (
        SELECT s.order_index, s.item_count,
          least(CASE WHEN s.order_index = ${afterSection}::int THEN ${afterItem}::int + 1 ELSE 0 END, s.item_count) AS first
        FROM version_sections s WHERE ${OF_VERSION} AND s.order_index >= ${afterSection}::int ${ofSection}
      ) s
    ) s CROSS JOIN LATERAL (
      SELECT s.order_index AS section, item
      FROM generate_series(s.first, least(s.item_count, s.first + ${limit}::int) - 1) AS item
    ) next
    WHERE s.before < ${limit}::int
    ORDER BY section, item LIMIT ${limit}
  )`;
}

/**
 * Finds the next items that match a filter, as {@link allItems} does. The total needs a pass over every item of the dataset,
 * which finds the page as well.
 *
 * @param ofItem condition on `items i`
 */
export function matchingItems(ofSection: string, ofItem: string, position: PagePosition): string {
  return pageOf(
    `SELECT s.order_index AS section, i.order_index AS item FROM version_sections s CROSS JOIN LATERAL ${itemsOf(ofItem)} i
     WHERE ${OF_VERSION} ${ofSection}`,
    position,
  );
}

/**
 * Finds the next items that match a filter by their hash, as {@link allItems} does: by the blocks of their sections, and
 * what has no blocks yet by reading it.
 *
 * @param hash 64 hex digits
 * @param ofItem condition on `items i`, which asks for the whole hash
 */
export function itemsWithHash(
  hash: string,
  ofSection: string,
  ofItem: string,
  position: PagePosition,
  parameter: (value: unknown) => string,
): string {
  return pageOf(
    `SELECT s.order_index AS section, found.order_index AS item
     FROM version_sections s CROSS JOIN LATERAL ${foundByHash(hash, ofItem, parameter)} found
     WHERE ${OF_VERSION} ${ofSection}`,
    position,
  );
}

/** The page after a position, and the total, of a query that finds each `section` and `item`. */
function pageOf(matching: string, { afterSection, afterItem, limit }: PagePosition): string {
  return `WITH matching AS MATERIALIZED (
    ${matching}
  ), counted AS (
    SELECT (SELECT count(*) FROM matching) AS total, version ${FROM_VERSION}
  ), page AS (
    SELECT section, item FROM matching WHERE (section, item) > (${afterSection}::int, ${afterItem}::int)
    ORDER BY section, item LIMIT ${limit}
  )`;
}

/** Which items a list has. */
interface ItemCondition {
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly itemId?: string | undefined;
  readonly itemHash?: string | undefined;
  readonly q?: string | undefined;
}

const INTEGER = /^(?:0|-?[1-9]\d{0,99})$/;

/** The condition on `items i` of a request; empty where it has none. */
export function itemFilter(
  { type, tag, itemId, itemHash, q }: ItemCondition,
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
  if (q !== undefined) {
    const wanted = insideJsonString(q);
    const contains = hasOtherCases(wanted)
      ? (pattern: string) => (part: string) => `i.${part}::text ILIKE ${pattern}`
      : // Costs half as much as ILIKE, which folds the case of every letter.
        (wantedLower: string) => (part: string) =>
          `position(${wantedLower} IN lower(i.${part}::text COLLATE "C")) > 0`;
    const value = parameter(hasOtherCases(wanted) ? containsPattern(wanted) : wanted.toLowerCase());
    // An item that is too large is not searched either.
    const parts = ['payload', 'answer', 'checker'];
    filters.push(
      `AND CASE WHEN i.byte_length <= ${maxItemBytes} THEN ${parts.map(contains(value)).join(' OR ')} ELSE false END`,
    );
  }
  return filters.join(' ');
}
