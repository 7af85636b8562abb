import { randomBytes } from 'node:crypto';
import { Parameters } from '../../database/page.ts';
import { shortened } from '../../database/values.ts';
import {
  cutRange,
  type ItemPosition,
  itemsAt,
  itemsInRanges,
  positionColumns,
  readPlaces,
  readRanges,
  type SectionRange,
} from '../../items/item-ranges.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import { splitRanges } from '../../versions/ranges.ts';
import { type RunSection, sectionsOf } from '../missing-results.ts';
import { type Run, readRunColumns, versionOf } from '../run-row.ts';

/** What a result from outside says of its item: where it is, or its id or hash, or several of these. */
export interface ItemReference {
  /** Both or none. */
  readonly section: string | null;
  readonly orderIndex: number | null;
  /** JSON text. */
  readonly itemId: string | null;
  /** 64 hex digits. */
  readonly itemHash: string | null;
}

/** An item of the run, or why a reference names none. */
export type LocatedItem =
  | (ItemPosition & { readonly section: string; readonly itemId: string | null })
  | { readonly problem: string };

interface FoundItem extends ItemPosition {
  readonly key: string;
  readonly itemId: string | null;
  readonly itemHash: string;
  readonly count: number;
}

const COLUMNS = `i.item_id AS "itemId", encode(i.item_hash, 'hex') AS "itemHash"`;

/** The numbers of the positions, sections $2 and items $3, that run $1 selected. */
const CHOSEN = `SELECT wanted.n::int AS n FROM run_items chosen
    JOIN unnest($2::int[], $3::int[]) WITH ORDINALITY AS wanted (section, item, n)
      ON chosen.section_order_index = wanted.section AND chosen.order_index = wanted.item
  WHERE chosen.run_id = $1`;

/** The items at positions; the key is the position's number among them. */
async function readAt(query: ReadQuery, run: LocatedRun, positions: readonly ItemPosition[]) {
  let places = await readPlaces(query, versionOf(run), positions);
  if (run.hasSelection) {
    const rows = await query<{ readonly n: number }>(CHOSEN, [run.id, ...positionColumns(positions)]);
    const chosen = new Set(rows.map(({ n }) => n - 1));
    places = places.map((place, index) => (chosen.has(index) ? place : null));
  }
  const parameters = new Parameters();
  const rows = await query<Omit<FoundItem, 'key' | 'count' | keyof ItemPosition> & { readonly n: number }>(
    `SELECT place.n::int AS n, ${COLUMNS} FROM ${itemsAt(places, parameters)}`,
    parameters.values,
  );
  return rows.map(({ n, ...row }) => ({
    ...row,
    ...(positions[n - 1] as ItemPosition),
    key: String(n),
    count: 1,
  }));
}

/** SQL for the first item of each key, and how many have it, of rows `(key, section, item, id, hash)`. */
const byKey = (found: string): string => `
  SELECT key, (array_agg(section ORDER BY section, item))[1] AS "sectionOrderIndex",
    (array_agg(item ORDER BY section, item))[1] AS "orderIndex", min(id) AS "itemId", min(hash) AS "itemHash",
    count(*)::int AS count
  FROM (${found}) AS found GROUP BY key`;

type Found = ReadonlyMap<string, FoundItem>;

const UNKNOWN: LocatedItem = { problem: 'names no item of the run' };

/** What items are named by, besides their position. */
const KEYS = {
  id: {
    sql: 'i.item_id',
    of: ({ itemId }: FoundItem) => itemId,
    among: (keys: readonly string[], { add }: Parameters) => `i.item_id = ANY (${add(keys)}::text[])`,
  },
  hash: {
    sql: `encode(i.item_hash, 'hex')`,
    of: ({ itemHash }: FoundItem) => itemHash,
    among: (keys: readonly string[], { add }: Parameters) =>
      `i.item_hash = ANY (${add(keys.map((hash) => Buffer.from(hash, 'hex')))}::bytea[])`,
  },
} as const;

/**
 * Finds the items of a run that results from outside name. Ids and hashes take a pass over the items; if more come after
 * the first ones, one more pass makes an index of them, which lasts as long as the function.
 *
 * @returns a function that throws StoreError `run_not_found` where the run was deleted meanwhile
 */
export async function createLocator(
  query: ReadQuery,
  run: LocatedRun,
): Promise<(references: readonly ItemReference[]) => Promise<readonly LocatedItem[]>> {
  const ordered = await sectionsOf(query, run.id);
  const sections = new Map(ordered.map((section) => [section.name, section]));
  const itemCount = ordered.reduce((sum, section) => sum + section.itemCount, 0);
  let indexed: keyof typeof KEYS | undefined;
  let ranges: ReturnType<typeof readRanges> | undefined;
  const rangesOfRun = (): ReturnType<typeof readRanges> => {
    ranges ??= readRanges(query, versionOf(run));
    return ranges;
  };
  const findAt = async (positions: readonly ItemPosition[]): Promise<Found> =>
    positions.length === 0
      ? NONE
      : new Map((await readAt(query, run, positions)).map((row) => [row.key, row]));

  /** Makes what finds items by one kind of key: the first time by a pass, then by an index if it may have one. */
  const finderOf = (kind: keyof typeof KEYS): ((keys: readonly string[]) => Promise<Found>) => {
    const { sql, of, among } = KEYS[kind];
    let isFirst = true;
    let index: KeyIndex | undefined;
    const pass = async (keys: readonly string[]): Promise<Found> => {
      const parameters = new Parameters();
      const items = `SELECT ${sql} AS key, i.section, i.order_index AS item, i.item_id AS id, encode(i.item_hash, 'hex') AS hash
        FROM ${itemsInRanges(await rangesOfRun(), parameters, `AND ${among(keys, parameters)}`)} i`;
      const found = itemsOfRun(run, items, parameters.add);
      return new Map((await query<FoundItem>(byKey(found), parameters.values)).map((row) => [row.key, row]));
    };
    return async (keys) => {
      if (keys.length === 0) return NONE;
      // One index for each request bounds the memory of all.
      if (!isFirst && itemCount <= MAX_INDEXED_ITEMS) indexed ??= kind;
      if (isFirst || indexed !== kind) {
        isFirst = false;
        return await pass(keys);
      }
      index ??= await buildKeyIndex(query, run, sql, ordered, await rangesOfRun());
      const candidates = await index(keys);
      const items = await findAt(candidates.flat());
      const found = new Map<string, FoundItem>();
      const unsure: string[] = [];
      let n = 0;
      for (const [at, key] of keys.entries()) {
        const here = candidates[at] ?? [];
        const same = here.flatMap(() => items.get(String(++n)) ?? []);
        const [first, ...others] = same.filter((item) => of(item) === key);
        if (others.length === 0 && here.length >= MAX_SAME) unsure.push(key);
        else if (first !== undefined) found.set(key, { ...first, count: 1 + others.length });
      }
      if (unsure.length > 0) for (const [key, item] of await pass(unsure)) found.set(key, item);
      return found;
    };
  };
  const findIds = finderOf('id');
  const findHashes = finderOf('hash');

  return async (references) => {
    const placed = references.map((reference) => placeOf(reference, sections));
    const positions = placed.filter((place) => place !== null && !('problem' in place)) as ItemPosition[];
    const others = references.filter((_, index) => placed[index] === null);
    const ids = [...new Set(others.flatMap(({ itemId }) => itemId ?? []))];
    const hashes = [
      ...new Set(others.flatMap(({ itemId, itemHash }) => (itemId === null ? (itemHash ?? []) : []))),
    ];
    const [atPosition, withId, withHash] = await Promise.all([
      findAt(positions),
      findIds(ids),
      findHashes(hashes),
    ]);
    const names = [...sections.values()].map(({ name }) => name);
    let n = 0;
    const located = references.map((reference, index): LocatedItem => {
      const place = placed[index];
      if (place != null && 'problem' in place) return place;
      const { itemId, itemHash } = reference;
      const found =
        place != null
          ? atPosition.get(String(++n))
          : itemId !== null
            ? withId.get(itemId)
            : withHash.get(itemHash ?? '');
      if (found === undefined) return UNKNOWN;
      if (found.count > 1) {
        return { problem: 'names several items: use section and order_index' };
      }
      const other =
        otherThan('item_id', itemId, found.itemId) ?? otherThan('item_hash', itemHash, found.itemHash);
      if (other !== null) return { problem: other };
      const { sectionOrderIndex, orderIndex } = found;
      return { sectionOrderIndex, orderIndex, itemId: found.itemId, section: names[sectionOrderIndex] ?? '' };
    });
    // The items of a run that was deleted meanwhile are gone too.
    if (located.includes(UNKNOWN)) await readRunColumns(query, run.id, 'id');
    return located;
  };
}

/** What is wrong with a member that differs from the item that was found; null if nothing is. */
function otherThan(member: string, stated: string | null, found: string | null): string | null {
  if (stated === null || stated === found) return null;
  const has = found === null ? `that has no ${member}` : `whose ${member} is ${shortened(found)}`;
  return `names an item ${has}, but its own ${member} is ${shortened(stated)}`;
}

const NONE: Found = new Map();

/** The position that a reference states; null if it states none. */
function placeOf(
  { section, orderIndex }: ItemReference,
  sections: ReadonlyMap<string, RunSection>,
): ItemPosition | { readonly problem: string } | null {
  if (section === null || orderIndex === null) return null;
  const found = sections.get(section);
  if (found === undefined) return { problem: 'names no section of the run' };
  if (orderIndex >= found.itemCount) return { problem: `names no item: the section has ${found.itemCount}` };
  return { sectionOrderIndex: found.orderIndex, orderIndex };
}

/** Positions of one key that are kept, so that items with the same key cost no more than others. */
const MAX_SAME = 4;
/** Their index takes 6 MB of memory, and 3 ms to be searched for some keys. */
const MAX_INDEXED_ITEMS = 1_500_000;

/** Items that one query reads. */
const PAGE_ITEMS = 20_000;
/** Bytes of an entry of a page: section, position and hash. */
const ENTRY_BYTES = 16;

/** A run whose items results from outside name. */
type LocatedRun = Pick<Run, 'id' | 'hasSelection' | 'datasetId' | 'datasetVersion'>;

/**
 * SQL for the items among these that a run has. If the run selected items, it looks each of them up.
 *
 * @param items SQL for rows with `section` and `item`
 */
function itemsOfRun(
  { id, hasSelection }: LocatedRun,
  items: string,
  add: (value: unknown) => string,
): string {
  if (!hasSelection) return items;
  return `WITH there AS MATERIALIZED (${items})
    SELECT there.* FROM there JOIN run_items chosen ON chosen.run_id = ${add(id)} AND chosen.section_order_index = there.section
      AND chosen.order_index = there.item`;
}

/** Finds where the items of a run may be that have some keys: the positions of each, {@link MAX_SAME} at most. */
type KeyIndex = (keys: readonly string[]) => Promise<readonly (readonly ItemPosition[])[]>;

/**
 * Reads a key of all items of a run once, a page at a time, and keeps 32 bits of its hash. Hashes collide: the caller compares
 * keys.
 *
 * @param key SQL for the key of a row `i` of `items`, text or null
 */
async function buildKeyIndex(
  query: ReadQuery,
  run: LocatedRun,
  key: string,
  sections: readonly RunSection[],
  ranges: readonly SectionRange[],
): Promise<KeyIndex> {
  // A new seed for each index: no client can make keys whose hashes collide.
  const seed = randomBytes(8).readBigInt64BE().toString();
  const hashes = new Map(
    sections.map(({ orderIndex, itemCount }) => [orderIndex, new Int32Array(itemCount)]),
  );
  for (const page of splitRanges(ranges, PAGE_ITEMS, cutRange)) {
    const parameters = new Parameters();
    const hash = `hashtextextended(${key}, ${parameters.add(seed)}::bigint)`;
    const items = `SELECT i.section, i.order_index AS item, ${hash} AS hash
      FROM ${itemsInRanges(page, parameters, `AND ${key} IS NOT NULL`)} i`;
    const [row] = await query<{ page: Buffer | null }>(
      `SELECT string_agg(int4send(section) || int4send(item) || int8send(hash), ''::bytea) AS page
       FROM (${itemsOfRun(run, items, parameters.add)}) AS found`,
      parameters.values,
    );
    const entries = row?.page ?? Buffer.alloc(0);
    for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
      const ofSection = hashes.get(entries.readInt32BE(at));
      if (ofSection !== undefined) ofSection[entries.readInt32BE(at + 4)] = entries.readInt32BE(at + 12);
    }
  }
  return async (keys) => {
    const [row] = await query<{ hashes: Buffer }>(
      `SELECT string_agg(int8send(hashtextextended(key, $2::bigint)), ''::bytea ORDER BY n) AS hashes
       FROM unnest($1::text[]) WITH ORDINALITY AS wanted (key, n)`,
      [keys, seed],
    );
    const wanted = new Map<number, ItemPosition[]>();
    const mayBe = new Uint8Array(0x1_0000);
    const found = keys.map((_, index) => {
      const hash = row?.hashes.readInt32BE(8 * index + 4) ?? 0;
      mayBe[hash & 0xffff] = 1;
      const positions = wanted.get(hash) ?? [];
      wanted.set(hash, positions);
      return positions;
    });
    for (const [sectionOrderIndex, ofSection] of hashes) {
      // An iterator would take five times as long.
      for (let orderIndex = 0; orderIndex < ofSection.length; orderIndex += 1) {
        const hash = ofSection[orderIndex] as number;
        const positions = mayBe[hash & 0xffff] === 1 ? wanted.get(hash) : undefined;
        if (positions !== undefined && positions.length < MAX_SAME)
          positions.push({ sectionOrderIndex, orderIndex });
      }
    }
    return found;
  };
}
