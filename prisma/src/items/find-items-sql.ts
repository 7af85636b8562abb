import {
  containsPattern,
  hasOtherCases,
  insideJsonString,
  memberText,
  readableJson,
} from '../database/values.ts';
import { joinPositions } from './hash-blocks.ts';

/** Placeholders of the position to continue after, and of the number of items to find. */
export interface PagePosition {
  readonly afterSection: string;
  readonly afterItem: string;
  readonly limit: string;
}

/**
 * Finds the next items of dataset `$1`: `counted (total)` and `page (section, item)`. Each section reads its next rows by
 * the primary key of `items`, in section order, until there are enough.
 *
 * @param ofSection condition on `sections s`
 */
export function allItems(ofSection: string, { afterSection, afterItem, limit }: PagePosition): string {
  return `WITH counted AS (
    SELECT (SELECT sum(s.item_count) FROM sections s WHERE s.dataset_id = $1 ${ofSection}) AS total
    FROM datasets WHERE id = $1
  ), page AS (
    SELECT s.order_index AS section, i.order_index AS item FROM sections s CROSS JOIN LATERAL (
      SELECT order_index FROM items i
      WHERE i.section_id = s.id AND i.order_index > CASE WHEN s.order_index = ${afterSection}::int THEN ${afterItem}::int ELSE -1 END
      ORDER BY i.order_index LIMIT ${limit}
    ) i
    WHERE s.dataset_id = $1 AND s.order_index >= ${afterSection}::int ${ofSection}
    ORDER BY s.order_index, i.order_index LIMIT ${limit}
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
    `SELECT s.order_index AS section, i.order_index AS item FROM sections s JOIN items i ON i.section_id = s.id
     WHERE s.dataset_id = $1 ${ofSection} ${ofItem}`,
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
  // Where all has blocks, the second part should not make the server prepare a large scan: hence OFFSET.
  return pageOf(
    `SELECT s.order_index AS section, i.order_index AS item FROM sections s ${joinPositions(hash, parameter)}
       JOIN items i ON i.section_id = s.id AND i.order_index = found.item
     WHERE s.dataset_id = $1 ${ofSection} ${ofItem}
     UNION ALL
     SELECT s.order_index, others.order_index FROM sections s CROSS JOIN LATERAL (
       SELECT i.order_index FROM items i
       WHERE i.section_id = s.id AND i.order_index >= s.hashed_items ${ofItem} OFFSET 0
     ) AS others
     WHERE s.dataset_id = $1 AND s.hashed_items < s.item_count ${ofSection}`,
    position,
  );
}

/** The page after a position, and the total, of a query that finds each `section` and `item`. */
function pageOf(matching: string, { afterSection, afterItem, limit }: PagePosition): string {
  return `WITH matching AS MATERIALIZED (
    ${matching}
  ), counted AS (
    SELECT (SELECT count(*) FROM matching) AS total FROM datasets WHERE id = $1
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
    const isOne = `${memberText(`${readableJson('i.payload')} -> 'id'`)} = ANY(${parameter(ids)}::text[])`;
    filters.push(`AND CASE WHEN i.byte_length <= ${maxItemBytes} THEN ${isOne} ELSE false END`);
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
