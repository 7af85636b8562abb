import { EAGER_BYTES, Parameters } from '../database/page.ts';
import { boundedText } from '../database/values.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import type { StoredParts } from './decode-rows.ts';
import { type ItemPlace, itemsAt } from './item-ranges.ts';

/** A page of items ends before the one that would exceed this size; one item may have more. */
const MAX_ITEMS_PAGE_BYTES = 8 * 1024 * 1024;
/** Bytes of an entry without its texts, as JSON; an omitted item has no more. */
const ENTRY_BYTES = 512;
const MAX_ID_BYTES = 65_536;

interface ItemTexts extends StoredParts {
  readonly linkedFiles: string | null;
}

export interface ItemCandidate extends ItemTexts {
  readonly partId: string;
  readonly ordinal: number;
  readonly section: string;
  readonly orderIndex: number;
  readonly byteLength: number;
  /** Bytes of the column `linked_files`; links are shorter. */
  readonly linkBytes: number;
  /** Bytes that the texts have more with the embedded files that they lack; null if they lack none. */
  readonly linkedBytes: string | null;
}

export type AssetForm = 'embed' | 'link';

export type SizedItem = Omit<ItemCandidate, 'section' | 'orderIndex'> & {
  readonly itemHash: Uint8Array;
  /** JSON text; null without an id, or with a very long one. */
  readonly itemId: string | null;
};

const TEXTS = {
  payload: 'payload',
  answer: 'answer',
  checker: 'checker',
  assets: 'assets',
  linkedFiles: 'linked_files',
} as const;

/** SQL for the texts of the row `i` of `items`. @param of makes the value of a column from its text */
const textColumns = (of = (text: string): string => text): string =>
  Object.entries(TEXTS)
    .map(([name, column]) => `${of(`i.${column}::text`)} AS "${name}"`)
    .join(', ');

const LINK_BYTES = 'coalesce(octet_length(i.linked_files::text), 0)';

/** Reads the sizes of items, and short texts, each in an equal share of {@link EAGER_BYTES}; null for those gone. */
export async function readSizedItems(query: ReadQuery, places: readonly (ItemPlace | null)[]) {
  const items: (SizedItem | null)[] = places.map(() => null);
  if (places.length === 0) return items;
  const parameters = new Parameters();
  const isShort = `i.byte_length + ${LINK_BYTES} <= ${parameters.add(Math.floor(EAGER_BYTES / places.length))}::int`;
  const rows = await query<SizedItem & { readonly n: number }>(
    `SELECT place.n::int, i.part_id AS "partId", i.ordinal, i.byte_length AS "byteLength", i.item_hash AS "itemHash",
       ${boundedText('i.item_id', MAX_ID_BYTES)} AS "itemId", ${LINK_BYTES} AS "linkBytes", i.linked_bytes AS "linkedBytes",
       ${textColumns((text) => `CASE WHEN ${isShort} THEN ${text} END`)}
     FROM ${itemsAt(places, parameters)}`,
    parameters.values,
    'sized_items',
  );
  for (const row of rows) items[row.n - 1] = row;
  return items;
}

export interface ItemLimits {
  readonly maxItemBytes: number;
  readonly maxWholeBytes: number;
}

export function planItems<T extends ItemCandidate>(
  candidates: readonly T[],
  { maxItemBytes, maxWholeBytes }: ItemLimits,
  form: AssetForm,
) {
  // `isTruncated`: it would be too large with its files, and is sent with links.
  const items: { readonly item: T; readonly isTooLarge: boolean; readonly isTruncated: boolean }[] = [];
  let pageBytes = 0;
  let unreadBytes = 0;
  for (const item of candidates) {
    const { byteLength, linkBytes } = item;
    const linkedBytes = Number(item.linkedBytes ?? 0);
    const wholeBytes = byteLength + linkedBytes;
    const isTooLarge = byteLength > maxItemBytes;
    const isTruncated = form === 'embed' && !isTooLarge && linkedBytes > 0 && wholeBytes > maxWholeBytes;
    const itemBytes = form === 'link' || isTruncated ? byteLength + linkBytes : wholeBytes;
    const sentBytes = (isTooLarge ? 0 : itemBytes) + Buffer.byteLength(item.section) + ENTRY_BYTES;
    if (items.length > 0 && pageBytes + sentBytes > MAX_ITEMS_PAGE_BYTES) break;
    pageBytes += sentBytes;
    if (!isTooLarge && item.payload === null) unreadBytes += byteLength;
    items.push({ item, isTooLarge, isTruncated });
  }
  // Of the texts that are yet to be read; 0 where they are few.
  return { items, unreadBytes: unreadBytes > EAGER_BYTES ? unreadBytes : 0 };
}

/** Reads the texts of the items that lack them and are not too large; their sizes are known. */
export async function readPlannedItems<T extends ItemCandidate>(
  query: ReadQuery,
  { items }: ReturnType<typeof planItems<T>>,
): Promise<(T & { readonly isTruncated: boolean })[]> {
  const unread = items
    .filter(({ item, isTooLarge }) => item.payload === null && !isTooLarge)
    .map(({ item }) => item);
  const texts = new Map<T, ItemTexts>();
  if (unread.length > 0) {
    const parameters = new Parameters();
    const rows = await query<ItemTexts & { readonly n: number }>(
      `SELECT place.n::int, ${textColumns()} FROM ${itemsAt(unread, parameters)}`,
      parameters.values,
    );
    for (const { n, ...row } of rows) texts.set(unread[n - 1] as T, row);
  }
  // Omit an item that was deleted with its dataset in the meantime.
  return items
    .filter(({ item, isTooLarge }) => isTooLarge || item.payload !== null || texts.has(item))
    .map(({ item, isTooLarge, isTruncated }) => ({
      ...item,
      ...(isTooLarge ? NO_TEXTS : texts.get(item)),
      isTruncated,
    }));
}

const NO_TEXTS: ItemTexts = {
  payload: null,
  answer: null,
  checker: null,
  assets: null,
  linkedFiles: null,
};
