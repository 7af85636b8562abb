import { randomBytes } from 'node:crypto';
import { Parameters } from '../../database/page.ts';
import { cutRange, type ItemPosition, itemsInRanges, type SectionRange } from '../../items/item-ranges.ts';
import type { ReadQuery } from '../../postgres/read-query.ts';
import { splitRanges } from '../../versions/ranges.ts';
import type { Run } from '../run-row.ts';
import type { RunSection } from './pending.ts';

/** Where the items of a run may be that have a key. Hashes collide: the caller compares keys. */
export interface KeyIndex {
  /** The positions of each key, in the order of the keys: {@link MAX_SAME} of them or more may not be all. */
  positionsOf(keys: readonly string[]): Promise<readonly (readonly ItemPosition[])[]>;
}

/** Positions of one key that are kept, so that items with the same key cost no more than others. */
export const MAX_SAME = 4;
/** Their index takes 8 MiB of memory. */
export const MAX_INDEXED_ITEMS = 1_500_000;

/** Items that one query reads. */
const PAGE_ITEMS = 20_000;
/** Bytes of an entry of a page: section, position and hash. */
const ENTRY_BYTES = 16;

/** A run whose items results from outside name. */
export type LocatedRun = Pick<Run, 'id' | 'hasSelection' | 'datasetId' | 'datasetVersion'>;

/**
 * SQL for the items among these that a run has. If the run selected items, it looks each of them up.
 *
 * @param items SQL for rows with `section` and `item`
 */
export function itemsOfRun(
  { id, hasSelection }: LocatedRun,
  items: string,
  add: (value: unknown) => string,
): string {
  if (!hasSelection) return items;
  return `WITH there AS MATERIALIZED (${items})
    SELECT there.* FROM there JOIN run_items chosen ON chosen.run_id = ${add(id)} AND chosen.section_order_index = there.section
      AND chosen.order_index = there.item`;
}

/**
 * Reads a key of all items of a run once, a page at a time.
 *
 * @param key SQL for the key of a row `i` of `items`, text or null
 */
export async function buildKeyIndex(
  query: ReadQuery,
  run: LocatedRun,
  {
    key,
    sections,
    ranges,
  }: {
    readonly key: string;
    readonly sections: readonly RunSection[];
    readonly ranges: readonly SectionRange[];
  },
): Promise<KeyIndex> {
  // A new seed for each index: no client can make keys whose hashes collide.
  const seed = randomBytes(8).readBigInt64BE().toString();
  const starts = new Map<number, number>();
  let itemCount = 0;
  for (const section of sections) {
    starts.set(section.orderIndex, itemCount);
    itemCount += section.itemCount;
  }
  const table = new HashTable(itemCount);
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
      const start = starts.get(entries.readInt32BE(at)) ?? 0;
      table.add(entries.readInt32BE(at + 12), start + entries.readInt32BE(at + 4));
    }
  }

  const bySection = sections.filter((section) => section.itemCount > 0);
  const firsts = bySection.map(({ orderIndex }) => starts.get(orderIndex) ?? 0);
  const positionOf = (ordinal: number): ItemPosition => {
    let [low, high] = [0, firsts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((firsts[middle] ?? 0) <= ordinal) low = middle;
      else high = middle - 1;
    }
    return {
      sectionOrderIndex: bySection[low]?.orderIndex ?? 0,
      orderIndex: ordinal - (firsts[low] ?? 0),
    };
  };
  return {
    async positionsOf(keys) {
      const [row] = await query<{ hashes: Buffer | null }>(
        `SELECT string_agg(int8send(hashtextextended(key, $2::bigint)), ''::bytea ORDER BY n) AS hashes
         FROM unnest($1::text[]) WITH ORDINALITY AS wanted (key, n)`,
        [keys, seed],
      );
      const hashes = row?.hashes;
      return keys.map((_, index) =>
        hashes == null ? [] : table.find(hashes.readInt32BE(8 * index + 4)).map(positionOf),
      );
    },
  };
}

/** Bits of a slot for the number; the others are of the hash. */
const NUMBER_BITS = 21;
const NUMBERS = 2 ** NUMBER_BITS - 1;

/** Numbers by 32 bits of a hash, with linear probing: at most three quarters of the slots are taken. */
class HashTable {
  /** The first bits of the hash, and the number plus one; 0 where a slot is free. */
  readonly #slots: Uint32Array;

  /** @param count of numbers from 0, up to {@link MAX_INDEXED_ITEMS} */
  constructor(count: number) {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(2, count / 0.75))));
  }

  add(hash: number, number: number): void {
    const mask = this.#slots.length - 1;
    const first = hash >>> NUMBER_BITS;
    let same = 0;
    let at = hash & mask;
    for (let slot = this.#slots[at] ?? 0; slot !== 0; slot = this.#slots[at] ?? 0) {
      if (slot >>> NUMBER_BITS === first && ++same === MAX_SAME) return;
      at = (at + 1) & mask;
    }
    this.#slots[at] = ((first << NUMBER_BITS) | (number + 1)) >>> 0;
  }

  find(hash: number): number[] {
    const mask = this.#slots.length - 1;
    const first = hash >>> NUMBER_BITS;
    const numbers: number[] = [];
    let at = hash & mask;
    for (let slot = this.#slots[at] ?? 0; slot !== 0; slot = this.#slots[at] ?? 0) {
      if (slot >>> NUMBER_BITS === first) numbers.push((slot & NUMBERS) - 1);
      at = (at + 1) & mask;
    }
    return numbers;
  }
}
