import { createYielder } from '@svc/concurrency';
import type { ReadQuery } from '@svc/postgres';
import { boundedName } from '../database/item-size.ts';
import { joinStoredItem } from '../database/read-stored-json.ts';
import { isItemAt } from '../items/version-sql.ts';
import { type ChangedField, changedField, changedFields, MAX_VALUE_BYTES } from './changed-fields.ts';
import type { Difference, Place } from './compare-sections.ts';

/** The position of an item. */
export interface ItemPosition {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
}

/** An item that is in one dataset only, or in both at different places. */
export interface PlacedEntry {
  readonly change: 'added' | 'removed' | 'moved';
  /** 32 bytes */
  readonly itemHash: Uint8Array;
  /** In the first dataset; null for an added item. */
  readonly from: ItemPosition | null;
  /** In the second dataset; null for a removed item. */
  readonly to: ItemPosition | null;
}

/** An item that has other content in the second dataset. */
export interface ChangedEntry {
  readonly change: 'changed';
  readonly section: string;
  /** In the first dataset. */
  readonly orderIndex: number;
  /** In the second dataset. */
  readonly otherOrderIndex: number;
  /** Its id in the first dataset as JSON text; null without one. */
  readonly itemId: string | null;
  /** In the order of the members; files are the links to them. */
  readonly fields: readonly ChangedField[];
}

export type DiffEntry = PlacedEntry | ChangedEntry;

/** Ids of the sections of both sides. */
export interface ComparedSections {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Items with more are not compared member by member: a few milliseconds. */
const MAX_COMPARED_BYTES = 256 * 1024;
/** Pairs whose texts are in memory together. */
const PAIRS_AT_ONCE = 8;
/** Ids with more are not shown. */
const MAX_ID_BYTES = 16 * 1024;
/** A page ends with the changed item after which it has more bytes of fields. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Reads what is shown of differences, in their order; of fewer where those have many changed members.
 *
 * @param maxItemBytes what an item may have to be read at all
 */
export async function readDifferences(
  query: ReadQuery,
  sections: ComparedSections,
  differences: readonly Difference[],
  maxItemBytes: number,
): Promise<DiffEntry[]> {
  const placed = await readPlaces(query, sections, differences);
  const entries: DiffEntry[] = [];
  const yieldToEventLoop = createYielder();
  let bytes = 0;
  for (let first = 0; first < differences.length; first += PAIRS_AT_ONCE) {
    const some = differences.slice(first, first + PAIRS_AT_ONCE);
    const texts = await readTexts(
      query,
      sections,
      some.filter(({ change }) => change === 'changed'),
      maxItemBytes,
    );
    for (const [index, difference] of some.entries()) {
      const { from, to } = placed[first + index] as PlacedPair;
      const { change } = difference;
      if (change !== 'changed') {
        const itemHash = (to ?? from)?.itemHash as Uint8Array;
        entries.push({
          change,
          itemHash,
          from: positionOf(from, difference.from),
          to: positionOf(to, difference.to),
        });
        continue;
      }
      const fields = fieldsOf(texts.get(difference) as TextPair);
      entries.push({
        change,
        section: from?.name ?? '',
        orderIndex: difference.from?.item ?? 0,
        otherOrderIndex: difference.to?.item ?? 0,
        itemId: from?.itemId ?? null,
        fields,
      });
      for (const field of fields) bytes += bytesOf(field);
      if (bytes > MAX_PAGE_BYTES) return entries;
      await yieldToEventLoop();
    }
  }
  return entries;
}

function bytesOf({ pointer, from, to }: ChangedField): number {
  return Buffer.byteLength(pointer) + Buffer.byteLength(from ?? '') + Buffer.byteLength(to ?? '');
}

function positionOf(item: PlacedItem | null, place: Place | null): ItemPosition | null {
  if (item === null || place === null) return null;
  return { section: item.name, sectionOrderIndex: place.section, orderIndex: place.item };
}

interface PlacedItem {
  readonly name: string;
  readonly itemHash: Uint8Array;
  readonly itemId: string | null;
}

interface PlacedPair {
  readonly from: PlacedItem | null;
  readonly to: PlacedItem | null;
}

/** What is known of the items without their texts. */
async function readPlaces(
  query: ReadQuery,
  sections: ComparedSections,
  differences: readonly Difference[],
): Promise<PlacedPair[]> {
  const rows = await query<PlacedItem & { readonly n: string }>(
    `SELECT wanted.n, ${boundedName('s.name')} AS name, i.item_hash AS "itemHash",
       CASE WHEN octet_length(i.item_id) <= ${MAX_ID_BYTES} THEN i.item_id END AS "itemId"
     FROM ${WANTED} JOIN sections s ON s.id = wanted.section JOIN items i ON ${isItemAt('wanted.item')}`,
    wantedOf(sections, differences),
  );
  const found = new Map(rows.map((row) => [Number(row.n) - 1, row]));
  return differences.map((_, index) => ({
    from: found.get(2 * index) ?? null,
    to: found.get(2 * index + 1) ?? null,
  }));
}

/** The places of items, two for each difference, which may be null. */
const WANTED = 'unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS wanted (section, item, n)';

function wantedOf({ from, to }: ComparedSections, differences: readonly Difference[]): unknown[] {
  const places = differences.flatMap((difference) => [
    [from, difference.from] as const,
    [to, difference.to] as const,
  ]);
  return [
    places.map(([ids, place]) => (place === null ? null : ids[place.section])),
    places.map(([, place]) => place?.item ?? null),
  ];
}

/** The texts of an item, or the beginning of its payload where it is too large to be compared. */
interface StoredTexts {
  readonly payload: string | null;
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
  readonly beginning: string | null;
}

interface TextPair {
  readonly from: StoredTexts;
  readonly to: StoredTexts;
}

async function readTexts(
  query: ReadQuery,
  sections: ComparedSections,
  differences: readonly Difference[],
  maxItemBytes: number,
): Promise<Map<Difference, TextPair>> {
  if (differences.length === 0) return new Map();
  const text = (part: string): string => `CASE WHEN fits THEN ${part}::text END AS ${part}`;
  const rows = await query<StoredTexts & { readonly n: string }>(
    `SELECT n, ${['payload', 'answer', 'checker', 'assets'].map(text).join(', ')},
       CASE WHEN NOT fits AND is_readable THEN left(payload::text, ${MAX_VALUE_BYTES + 1}) END AS beginning
     FROM (
       SELECT wanted.n, i.*, i.byte_length <= ${MAX_COMPARED_BYTES} AS fits, i.byte_length <= ${maxItemBytes} AS is_readable
       FROM ${WANTED} JOIN sections s ON s.id = wanted.section JOIN items i ON ${isItemAt('wanted.item')}
     ) sized`,
    wantedOf(sections, differences),
  );
  const found = new Map(rows.map((row) => [Number(row.n) - 1, row]));
  return new Map(
    differences.map((difference, index) => [
      difference,
      { from: found.get(2 * index) as StoredTexts, to: found.get(2 * index + 1) as StoredTexts },
    ]),
  );
}

function fieldsOf({ from, to }: TextPair): ChangedField[] {
  if (from.payload !== null && to.payload !== null) {
    return changedFields(
      joinStoredItem({ ...from, payload: from.payload }),
      joinStoredItem({ ...to, payload: to.payload }),
    );
  }
  const { from: before, to: after } = changedField('', beginningOf(from), beginningOf(to));
  return [{ pointer: '', from: before, to: after, isTruncated: true }];
}

const beginningOf = ({ payload, beginning }: StoredTexts): string | null => payload ?? beginning;
