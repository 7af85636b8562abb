import { createYielder } from '@svc/concurrency';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { COPY_HEADER, COPY_TRAILER } from '../database/copy-format.ts';
import { itemsInRanges, LITERALS } from '../items/item-ranges.ts';
import { cutItems, type ItemRange, itemCountOf, splitRanges, toSectionRanges } from './ranges.ts';
import type { Sha256State } from './sha256-state.ts';

/** Hashes that one query reads: 2 MB. */
const ITEMS_PER_QUERY = 65_536;

/** Adds the hashes of items to the hash of their section. */
export async function hashItems(
  client: pg.ClientBase,
  state: Sha256State,
  ranges: readonly ItemRange[],
): Promise<void> {
  const yieldToEventLoop = createYielder();
  for (const some of splitRanges(ranges, ITEMS_PER_QUERY, cutItems)) {
    const hashes = await readHashes(client, some);
    if (hashes.byteLength !== itemCountOf(some) * 32) throw new Error('The ranges of a section lack items.');
    for (let at = 0; at < hashes.byteLength; at += HASHED_BYTES) {
      state.update(hashes.subarray(at, at + HASHED_BYTES));
      await yieldToEventLoop();
    }
  }
}

/** A millisecond. */
const HASHED_BYTES = 128 * 1024;

/** By COPY, because the text of bytes is twice as long, and must be parsed. A statement of COPY has no parameters. */
async function readHashes(client: pg.ClientBase, ranges: readonly ItemRange[]): Promise<Buffer> {
  const copy = client.query(
    copyTo(`COPY (SELECT string_agg(i.item_hash, ''::bytea ORDER BY i.order_index)
      FROM ${itemsInRanges(toSectionRanges([ranges]), LITERALS)} i) TO STDOUT (FORMAT binary)`),
  );
  const row = Buffer.concat(await Array.fromAsync(copy as AsyncIterable<Buffer>));
  return row.subarray(COPY_HEADER.byteLength + ROW_HEAD_BYTES, -COPY_TRAILER.byteLength);
}

/** The number of fields, and the length of the first. */
const ROW_HEAD_BYTES = 6;
