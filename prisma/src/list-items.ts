import type { StoreContext } from './context.ts';
import { datasetNotFound } from './dataset-row.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from './page.ts';
import { containsPattern, insideJsonString, isUuid, searchableText } from './values.ts';

/** An item as it is stored: canonical texts, null for an absent key (`'null'` for a JSON null). */
export interface StoredItem {
  /** name of its section */
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  /** 32 bytes */
  readonly itemHash: Uint8Array;
  readonly payload: string;
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
}

export interface ItemsRequest extends PageRequest {
  /** name of the section */
  readonly section?: string | undefined;
  readonly type?: string | undefined;
  /** part of the item's JSON text without its assets, in any case */
  readonly q?: string | undefined;
}

/** A page ends when what it holds takes more than this on the server's disk. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** See `DatasetStore.listItems`. */
export async function listItems(
  { pool }: Pick<StoreContext, 'pool'>,
  id: string,
  request: ItemsRequest,
): Promise<Page<StoredItem>> {
  const { limit, cursor, section } = request;
  const [afterSection, afterItem] =
    cursor === undefined ? [-1, -1] : decodeCursor('items', ['index', 'index'], cursor);
  if (!isUuid(id)) throw datasetNotFound(id);

  const values: unknown[] = [id];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const ofSection = section === undefined ? '' : `AND s.name = ${parameter(searchableText(section))}`;
  const ofItem = itemFilter(request, parameter);
  const s = parameter(afterSection);
  const i = parameter(afterItem);
  const n = parameter(limit + 1);
  // What a row takes is known without reading it; only the rows of the page are.
  const { rows } = await pool.query<ItemRow>(
    `${ofItem === '' ? allItems(ofSection, s, i, n) : matchingItems(ofSection, ofItem, s, i, n)}
     SELECT total, found, section, "sectionOrderIndex", "orderIndex", item_hash AS "itemHash", payload::text AS payload,
       answer::text AS answer, checker::text AS checker, assets::text AS assets
     FROM counted LEFT JOIN (
       SELECT candidate.*, count(*) OVER () AS found,
         sum(bytes) OVER (ORDER BY "sectionOrderIndex", "orderIndex") - bytes AS bytes_before
       FROM (
         SELECT s.name AS section, s.order_index AS "sectionOrderIndex", i.order_index AS "orderIndex", i.item_hash,
           i.payload, i.answer, i.checker, i.assets,
           pg_column_size(i.payload) + coalesce(pg_column_size(i.answer), 0)
             + coalesce(pg_column_size(i.checker), 0) + coalesce(pg_column_size(i.assets), 0) AS bytes
         FROM page JOIN sections s ON s.dataset_id = $1 AND s.order_index = page.section
           JOIN items i ON i.section_id = s.id AND i.order_index = page.item
       ) candidate
     ) sized ON bytes_before < ${MAX_PAGE_BYTES}
     ORDER BY "sectionOrderIndex", "orderIndex"`,
    values,
  );
  if (rows[0] === undefined) throw datasetNotFound(id);
  const shown = rows
    .filter((row): row is ItemRow & { section: string } => row.section !== null)
    .slice(0, limit);
  const last = shown.at(-1);
  return {
    data: shown.map(({ total: _, found: __, ...item }) => item),
    nextCursor:
      last !== undefined && Number(last.found) > shown.length
        ? encodeCursor('items', [last.sectionOrderIndex, last.orderIndex])
        : null,
    totalItems: Number(rows[0].total ?? 0),
  };
}

type ItemRow = Omit<StoredItem, 'section'> & {
  readonly total: string | null;
  readonly found: string;
  /** null where the page is empty */
  readonly section: string | null;
};

/** For each section its next rows by primary key, in section order, until there are enough. */
function allItems(ofSection: string, s: string, i: string, n: string): string {
  return `WITH counted AS (
    SELECT (SELECT sum(s.item_count) FROM sections s WHERE s.dataset_id = $1 ${ofSection}) AS total
    FROM datasets WHERE id = $1
  ), page AS (
    SELECT s.order_index AS section, i.order_index AS item FROM sections s CROSS JOIN LATERAL (
      SELECT order_index FROM items i
      WHERE i.section_id = s.id AND i.order_index > CASE WHEN s.order_index = ${s}::int THEN ${i}::int ELSE -1 END
      ORDER BY i.order_index LIMIT ${n}
    ) i
    WHERE s.dataset_id = $1 AND s.order_index >= ${s}::int ${ofSection}
    ORDER BY s.order_index, i.order_index LIMIT ${n}
  )`;
}

/** The total needs every item to be looked at: the page comes out of the same pass. */
function matchingItems(ofSection: string, ofItem: string, s: string, i: string, n: string): string {
  return `WITH matching AS MATERIALIZED (
    SELECT s.order_index AS section, i.order_index AS item FROM sections s JOIN items i ON i.section_id = s.id
    WHERE s.dataset_id = $1 ${ofSection} ${ofItem}
  ), counted AS (
    SELECT (SELECT count(*) FROM matching) AS total FROM datasets WHERE id = $1
  ), page AS (
    SELECT section, item FROM matching WHERE (section, item) > (${s}::int, ${i}::int)
    ORDER BY section, item LIMIT ${n}
  )`;
}

function itemFilter({ type, q }: ItemsRequest, parameter: (value: unknown) => string): string {
  const filters: string[] = [];
  if (type !== undefined) filters.push(`AND i.type = ${parameter(insideJsonString(type))}`);
  if (q !== undefined) {
    const wanted = insideJsonString(q);
    const contains = isAscii(wanted)
      ? // half the cost of ILIKE, which folds the case of every letter there is
        (wantedLower: string) => (part: string) =>
          `position(${wantedLower} IN lower(i.${part}::text COLLATE "C")) > 0`
      : (pattern: string) => (part: string) => `i.${part}::text ILIKE ${pattern}`;
    const value = parameter(isAscii(wanted) ? wanted.toLowerCase() : containsPattern(wanted));
    filters.push(`AND (${['payload', 'answer', 'checker'].map(contains(value)).join(' OR ')})`);
  }
  return filters.join(' ');
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
