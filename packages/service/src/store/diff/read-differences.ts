import type { ItemParts } from '@svc/jsonl-v23';
import { skipValue } from '@svc/jsonl-v23/json';
import { createYielder } from '../../concurrency/index.ts';
import { Parameters } from '../database/page.ts';
import { joinStoredItem, membersOf } from '../database/read-stored-json.ts';
import { boundedName } from '../database/values.ts';
import type { StoredParts } from '../items/decode-rows.ts';
import { type ItemPlace, itemsAt } from '../items/item-ranges.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import type { Difference, Place } from './compare-sections.ts';

export interface ItemPosition {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
}

interface PlacedEntry {
  readonly change: 'added' | 'removed';
  readonly itemHash: Uint8Array;
  readonly from: ItemPosition | null;
  readonly to: ItemPosition | null;
}

export interface ChangedEntry {
  readonly change: 'changed';
  readonly section: string;
  readonly orderIndex: number;
  readonly otherOrderIndex: number;
  /** Its id in the first dataset as JSON text; null without one. */
  readonly itemId: string | null;
  readonly fields: readonly ChangedField[];
}

export type DiffEntry = PlacedEntry | ChangedEntry;

export interface ComparedSections {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Items with more are not compared member by member: a few milliseconds. */
const MAX_COMPARED_BYTES = 256 * 1024;
const PAIRS_AT_ONCE = 8;
const MAX_ID_BYTES = 16 * 1024;
/** A page ends with the changed item after which it has more bytes of fields. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Reads what is shown of differences, in their order; of fewer where those have many changed members. */
export async function readDifferences(
  query: ReadQuery,
  { from, to }: ComparedSections,
  differences: readonly Difference[],
  maxItemBytes: number,
): Promise<DiffEntry[]> {
  // Two for each difference: what it has on the first side, and on the second.
  const places = await findPlaces(
    query,
    differences.flatMap((one) => [
      { ids: from, place: one.from },
      { ids: to, place: one.to },
    ]),
  );
  const items = await readPlaced(query, places);
  const entries: DiffEntry[] = [];
  const yieldToEventLoop = createYielder();
  let bytes = 0;
  for (let first = 0; first < differences.length; first += PAIRS_AT_ONCE) {
    const some = differences.slice(first, first + PAIRS_AT_ONCE);
    const changed = some.flatMap(({ change }, index) => (change === 'changed' ? [2 * (first + index)] : []));
    const texts = await readTexts(
      query,
      changed.flatMap((at) => [places[at] ?? null, places[at + 1] ?? null]),
      maxItemBytes,
    );
    for (const [index, difference] of some.entries()) {
      const at = 2 * (first + index);
      const { change } = difference;
      if (change !== 'changed') {
        const itemHash = (items[at + 1] ?? items[at])?.itemHash as Uint8Array;
        const [before, after] = [places[at], places[at + 1]];
        entries.push({
          ...{ change, itemHash },
          from: positionOf(before, difference.from),
          to: positionOf(after, difference.to),
        });
        continue;
      }
      const text = 2 * changed.indexOf(at);
      const fields = fieldsOf(texts[text] as StoredTexts, texts[text + 1] as StoredTexts);
      entries.push({
        change,
        section: places[at]?.name ?? '',
        orderIndex: difference.from?.item ?? 0,
        otherOrderIndex: difference.to?.item ?? 0,
        itemId: items[at]?.itemId ?? null,
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

function positionOf(stored: NamedPlace | null | undefined, place: Place | null): ItemPosition | null {
  if (stored == null || place === null) return null;
  return { section: stored.name, sectionOrderIndex: place.section, orderIndex: place.item };
}

interface NamedPlace extends ItemPlace {
  readonly name: string;
}

function byNumber<T extends { readonly n: string }>(count: number, rows: readonly T[]): (T | null)[] {
  const values: (T | null)[] = Array.from({ length: count }, () => null);
  for (const row of rows) values[Number(row.n) - 1] = row;
  return values;
}

async function findPlaces(
  query: ReadQuery,
  wanted: readonly { readonly ids: readonly string[]; readonly place: Place | null }[],
): Promise<(NamedPlace | null)[]> {
  const rows = await query<NamedPlace & { readonly n: string }>(
    `SELECT wanted.n, ${boundedName('s.name')} AS name, s.part_ids[range] AS "partId",
       wanted.item - s.starts[range] + s.firsts[range] AS ordinal
     FROM unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS wanted (section, item, n) JOIN sections s ON s.id = wanted.section
       CROSS JOIN LATERAL width_bucket(wanted.item, s.starts) AS range`,
    [
      wanted.map(({ ids, place }) => (place === null ? null : ids[place.section])),
      wanted.map(({ place }) => place?.item ?? null),
    ],
  );
  return byNumber(wanted.length, rows);
}

interface PlacedItem {
  readonly itemHash: Uint8Array;
  readonly itemId: string | null;
}

async function readPlaced(query: ReadQuery, places: readonly (NamedPlace | null)[]) {
  const parameters = new Parameters();
  const rows = await query<PlacedItem & { readonly n: string }>(
    `SELECT place.n, i.item_hash AS "itemHash",
       CASE WHEN octet_length(i.item_id) <= ${MAX_ID_BYTES} THEN i.item_id END AS "itemId"
     FROM ${itemsAt(places, parameters)}`,
    parameters.values,
  );
  return byNumber(places.length, rows);
}

/** The texts of an item, or the beginning of its payload where it is too large to be compared. */
interface StoredTexts extends StoredParts {
  readonly beginning: string | null;
}

async function readTexts(query: ReadQuery, places: readonly (NamedPlace | null)[], maxItemBytes: number) {
  if (places.length === 0) return [];
  const parameters = new Parameters();
  const text = (part: string): string => `CASE WHEN fits THEN ${part}::text END AS ${part}`;
  const rows = await query<StoredTexts & { readonly n: string }>(
    `SELECT n, ${['payload', 'answer', 'checker', 'assets'].map(text).join(', ')},
       CASE WHEN NOT fits AND is_readable THEN left(payload::text, ${MAX_VALUE_BYTES + 1}) END AS beginning
     FROM (
       SELECT place.n, i.*, i.byte_length <= ${MAX_COMPARED_BYTES} AS fits, i.byte_length <= ${maxItemBytes} AS is_readable
       FROM ${itemsAt(places, parameters)}
     ) sized`,
    parameters.values,
  );
  return byNumber(places.length, rows);
}

function fieldsOf(from: StoredTexts, to: StoredTexts): ChangedField[] {
  if (from.payload !== null && to.payload !== null) {
    return compare('', joinStoredItem(from as ItemParts), joinStoredItem(to as ItemParts));
  }
  const before = changedField('', from.payload ?? from.beginning, to.payload ?? to.beginning);
  return [{ ...before, isTruncated: true }];
}

export interface ChangedField {
  readonly pointer: string;
  /** Canonical JSON text; null if the item has no such member. A shortened one is the JSON text of a string. */
  readonly from: string | null;
  readonly to: string | null;
  readonly isTruncated: boolean;
}

const MAX_VALUE_BYTES: number = 2 * 1024;
/** An array or object with more differences is one of them. */
const MAX_FIELDS = 50;
/** Members of arrays and objects deeper inside one another are not compared one by one. */
const MAX_DEPTH = 16;
/** Nor those of one with a longer pointer, which each of them would repeat. */
const MAX_POINTER_LENGTH = 1024;

/** The members in which two values differ, given their canonical texts. Takes time linear in the texts. */
function compare(pointer: string, from: string | null, to: string | null, depth = 0): ChangedField[] {
  if (from === to) return [];
  const isContainer =
    from !== null && to !== null && from[0] === to[0] && (from[0] === '{' || from[0] === '[');
  const whole = (): ChangedField[] => [changedField(pointer, from, to)];
  if (!isContainer || depth === MAX_DEPTH || pointer.length > MAX_POINTER_LENGTH) return whole();
  const after = partsOf(to);
  const fields: ChangedField[] = [];
  const add = (key: string, a: string | null, b: string | null): void => {
    if (fields.length <= MAX_FIELDS) fields.push(...compare(`${pointer}/${stepOf(key)}`, a, b, depth + 1));
  };
  for (const [key, value] of partsOf(from)) {
    add(key, value, after.get(key) ?? null);
    after.delete(key);
  }
  for (const [key, value] of after) add(key, null, value);
  return fields.length > MAX_FIELDS ? whole() : fields;
}

function partsOf(text: string): Map<string, string> {
  if (text[0] === '{') return new Map(membersOf(text));
  const elements = new Map<string, string>();
  for (let at = 1; at < text.length - 1; ) {
    const end = skipValue(text, at);
    elements.set(String(elements.size), text.slice(at, end));
    at = end + 1;
  }
  return elements;
}

const stepOf = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function changedField(pointer: string, from: string | null, to: string | null): ChangedField {
  const isLong = (text: string | null): boolean => text !== null && Buffer.byteLength(text) > MAX_VALUE_BYTES;
  const shown = (text: string | null): string | null =>
    text !== null && isLong(text) ? shortened(text) : text;
  return { pointer, from: shown(from), to: shown(to), isTruncated: isLong(from) || isLong(to) };
}

function shortened(text: string): string {
  const value = text[0] === '"' ? (JSON.parse(text) as string) : text;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const cut = decoder.decode(Buffer.from(value).subarray(0, MAX_VALUE_BYTES), { stream: true });
  return JSON.stringify(cut);
}
