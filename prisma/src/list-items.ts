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
  const { rows: totals } = await pool.query<{ total: string | null }>(
    ofItem === ''
      ? `SELECT d.item_count AS all_items, sum(s.item_count) AS total FROM datasets d
           LEFT JOIN sections s ON s.dataset_id = d.id ${ofSection} WHERE d.id = $1 GROUP BY d.id`
      : `SELECT count(i.*) AS total FROM datasets d LEFT JOIN sections s ON s.dataset_id = d.id ${ofSection}
           LEFT JOIN items i ON i.section_id = s.id ${ofItem} WHERE d.id = $1 GROUP BY d.id`,
    [...values],
  );
  if (totals[0] === undefined) throw datasetNotFound(id);

  const s = parameter(afterSection);
  const i = parameter(afterItem);
  const n = parameter(limit + 1);
  // For each section its next rows by primary key, in section order, until there are enough. What a row takes
  // is known without reading it; only the rows of the page are.
  const { rows } = await pool.query<ItemRow>(
    `SELECT section, "sectionOrderIndex", "orderIndex", item_hash AS "itemHash", payload::text AS payload,
       answer::text AS answer, checker::text AS checker, assets::text AS assets, found
     FROM (
       SELECT candidate.*, count(*) OVER () AS found,
         sum(bytes) OVER (ORDER BY "sectionOrderIndex", "orderIndex") - bytes AS bytes_before
       FROM (
         SELECT s.name AS section, s.order_index AS "sectionOrderIndex", i.order_index AS "orderIndex", i.item_hash,
           i.payload, i.answer, i.checker, i.assets,
           pg_column_size(i.payload) + coalesce(pg_column_size(i.answer), 0)
             + coalesce(pg_column_size(i.checker), 0) + coalesce(pg_column_size(i.assets), 0) AS bytes
         FROM sections s CROSS JOIN LATERAL (
           SELECT * FROM items i
           WHERE i.section_id = s.id AND i.order_index > CASE WHEN s.order_index = ${s} THEN ${i} ELSE -1 END ${ofItem}
           ORDER BY i.order_index LIMIT ${n}
         ) i
         WHERE s.dataset_id = $1 AND s.order_index >= ${s} ${ofSection}
         ORDER BY s.order_index, i.order_index LIMIT ${n}
       ) candidate
     ) sized
     WHERE bytes_before < ${MAX_PAGE_BYTES}
     ORDER BY "sectionOrderIndex", "orderIndex"`,
    values,
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    data: shown.map(({ found: _, ...item }) => item),
    nextCursor:
      last !== undefined && Number(last.found) > shown.length
        ? encodeCursor('items', [last.sectionOrderIndex, last.orderIndex])
        : null,
    totalItems: Number(totals[0].total ?? 0),
  };
}

type ItemRow = StoredItem & { readonly found: string };

function itemFilter({ type, q }: ItemsRequest, parameter: (value: unknown) => string): string {
  const filters: string[] = [];
  if (type !== undefined) filters.push(`AND i.type = ${parameter(insideJsonString(type))}`);
  if (q !== undefined) {
    const pattern = parameter(containsPattern(insideJsonString(q)));
    const parts = ['payload', 'answer', 'checker'].map((part) => `i.${part}::text ILIKE ${pattern}`);
    filters.push(`AND (${parts.join(' OR ')})`);
  }
  return filters.join(' ');
}
