import type { StoreContext } from '../context.ts';
import { boundedName, hasAtMost } from '../database/item-size.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../database/page.ts';
import {
  EAGER_BYTES,
  type ItemCandidate,
  itemCandidates,
  type PlannedItems,
  planItems,
  readPlannedItems,
} from '../database/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../database/read-query.ts';
import { containsPattern, insideJsonString, isUuid, searchableText } from '../database/values.ts';
import { datasetNotFound } from './dataset-row.ts';

/** An item as it is stored: canonical texts, null for an absent key (`'null'` for a JSON null). */
export interface StoredItem {
  /** Name of its section. */
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
  /** Name of the section. */
  readonly section?: string | undefined;
  readonly type?: string | undefined;
  /** Part of the item's JSON text without its assets, in any case. */
  readonly q?: string | undefined;
}

/** An item of a page; its payload is null where the item is larger than one may be, and is not read. */
export type ListedItem = Omit<StoredItem, 'payload'> & { readonly payload: string | null };

/** A page of items, whose memory is accounted for until it is released. */
export interface ItemsPage extends Page<ListedItem> {
  /** Whether the page is large, so that it should be sent piece by piece. */
  readonly isLarge: boolean;
  /** To be called when the page was sent, or is not needed. */
  release(): void;
}

/** See `DatasetStore.listItems`. */
export async function listItems(
  context: Pick<StoreContext, 'pool' | 'searches' | 'largePages' | 'maxItemBytes'>,
  id: string,
  request: ItemsRequest,
): Promise<ItemsPage> {
  const { pool, largePages, maxItemBytes } = context;
  const { limit, signal } = request;
  const query = createReadQuery(pool, signal);
  const { total, candidates } = await findCandidates(query, context, id, request);

  // Measuring a text costs the database as much memory as the text has.
  const boundBytes = candidates.reduce((most, item) => Math.max(most, Number(item.boundBytes)), 0);
  let plan: PlannedItems<ItemCandidateRow>;
  {
    using _permits = boundBytes > EAGER_BYTES ? await largePages.acquire(signal, boundBytes) : undefined;
    plan = await planItems(query, candidates.slice(0, limit), maxItemBytes);
  }
  const permits = plan.unreadBytes > 0 ? await largePages.acquire(signal, plan.unreadBytes) : undefined;
  const release = (): void => permits?.[Symbol.dispose]();
  try {
    const items = await readPlannedItems(query, plan);
    const last = plan.items.at(-1)?.item;
    return {
      data: items.map(toListedItem),
      nextCursor:
        last !== undefined && candidates.length > plan.items.length
          ? encodeCursor('items', [last.sectionOrderIndex, last.orderIndex])
          : null,
      totalItems: total,
      isLarge: plan.unreadBytes > 0,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

interface ItemCandidateRow extends ItemCandidate {
  readonly sectionOrderIndex: number;
  readonly itemHash: Uint8Array;
}

type FoundRow = Omit<ItemCandidateRow, 'section'> & {
  readonly total: string | null;
  /** null where the page is empty */
  readonly section: string | null;
};

function toListedItem(item: ItemCandidateRow): ListedItem {
  const { section, sectionOrderIndex, orderIndex, itemHash, payload, answer, checker, assets } = item;
  return { section, sectionOrderIndex, orderIndex, itemHash, payload, answer, checker, assets };
}

/** The next items, one more than asked for, and how many there are in all. */
async function findCandidates(
  query: ReadQuery,
  { searches, maxItemBytes }: Pick<StoreContext, 'searches' | 'maxItemBytes'>,
  id: string,
  request: ItemsRequest,
): Promise<{ readonly total: number; readonly candidates: readonly ItemCandidateRow[] }> {
  const { limit, cursor, section, signal } = request;
  const [afterSection, afterItem] =
    cursor === undefined ? [-1, -1] : decodeCursor('items', ['index', 'index'], cursor);
  if (!isUuid(id)) throw datasetNotFound(id);

  const values: unknown[] = [id];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const ofSection = section === undefined ? '' : `AND s.name = ${parameter(searchableText(section))}`;
  const ofItem = itemFilter(request, maxItemBytes, parameter);
  const s = parameter(afterSection);
  const i = parameter(afterItem);
  const n = parameter(limit + 1);
  const candidates = itemCandidates(
    `SELECT s.id AS "sectionId", ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
       i.order_index AS "orderIndex", i.item_hash AS "itemHash", i.payload, i.answer, i.checker, i.assets
     FROM page JOIN sections s ON s.dataset_id = $1 AND s.order_index = page.section
       JOIN items i ON i.section_id = s.id AND i.order_index = page.item`,
    '"itemHash"',
  );
  using _permit = ofItem === '' ? undefined : await searches.acquire(signal);
  const rows = await query<FoundRow>(
    `${ofItem === '' ? allItems(ofSection, s, i, n) : matchingItems(ofSection, ofItem, s, i, n)}
       SELECT total, found.* FROM counted LEFT JOIN (${candidates}) found ON true
       ORDER BY "sectionOrderIndex", "orderIndex"`,
    values,
  );
  if (rows[0] === undefined) throw datasetNotFound(id);
  return {
    total: Number(rows[0].total ?? 0),
    candidates: rows.filter((row): row is FoundRow & ItemCandidateRow => row.section !== null),
  };
}

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

function itemFilter(
  { type, q }: ItemsRequest,
  maxItemBytes: number,
  parameter: (value: unknown) => string,
): string {
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
    // An item that is not read is not searched either.
    const parts = ['payload', 'answer', 'checker'];
    filters.push(
      `AND CASE WHEN ${hasAtMost(maxItemBytes, 'i', parts)} THEN ${parts.map(contains(value)).join(' OR ')} ELSE false END`,
    );
  }
  return filters.join(' ');
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
