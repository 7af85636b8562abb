import { createYielder } from '@svc/concurrency';
import type pg from 'pg';
import { itemsBetween, rangesGiven } from '../items/version-sql.ts';
import { type ItemRange, itemCountOf, rangeValues } from './ranges.ts';
import { Sha256State } from './sha256-state.ts';

/** Hashes that one query reads: 2 MB. */
const ITEMS_PER_QUERY = 65_536;

/** The state before the first item of a section (item-v23, section 4). */
export function startSectionHash(name: string): Sha256State {
  const state = Sha256State.start();
  state.update(Buffer.from(`svc-section-1\n${name}\n`));
  return state;
}

/** Adds the hashes of items to the hash of their section. */
export async function hashItems(
  client: pg.ClientBase,
  state: Sha256State,
  ranges: readonly ItemRange[],
): Promise<void> {
  const count = itemCountOf(ranges);
  const values = rangeValues(ranges);
  const yieldToEventLoop = createYielder();
  for (let from = 0; from < count; from += ITEMS_PER_QUERY) {
    const to = Math.min(from + ITEMS_PER_QUERY, count);
    const { rows } = await client.query<{ hashes: Buffer | null }>(HASHES, [...values, from, to]);
    const hashes = rows[0]?.hashes ?? Buffer.alloc(0);
    if (hashes.byteLength !== (to - from) * 32) throw new Error('The ranges of a section lack items.');
    for (let at = 0; at < hashes.byteLength; at += HASHED_BYTES) {
      state.update(hashes.subarray(at, at + HASHED_BYTES));
      await yieldToEventLoop();
    }
  }
}

/** A millisecond. */
const HASHED_BYTES = 128 * 1024;

const HASHES = `SELECT string_agg(i.item_hash, ''::bytea ORDER BY i.order_index) AS hashes
  FROM ${rangesGiven(1)} CROSS JOIN LATERAL ${itemsBetween('$5::int', '$6::int')} i`;
