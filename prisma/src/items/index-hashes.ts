import type pg from 'pg';
import { sumOfRows } from '../database/collect-notes.ts';
import { NIL_UUID } from '../database/values.ts';
import { inTransaction } from '../postgres/pool.ts';
import { HAS_ITEMS_TO_HASH, INSERT_BLOCKS, RUN_ITEMS } from './hash-blocks.ts';

/**
 * Makes the blocks in which items are looked up by their hash, of all parts that lack many: one run for each
 * transaction, which says up to which item the part has blocks. The items of a part never change, so that blocks are right
 * for as long as the part exists; they are deleted with it. Any number of processes may do so concurrently.
 *
 * @param signal ends it after the run that it works on
 * @returns how many items it read
 */
export async function indexHashes(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  const indexPart = async ({ id }: { readonly id: string }): Promise<number> => {
    let indexed = 0;
    for (let read = 1; read > 0 && signal?.aborted !== true; indexed += read) {
      read = await inTransaction(pool, (client) => indexRun(client, id));
    }
    return indexed;
  };
  return await sumOfRows(pool, `id FROM parts WHERE ${HAS_ITEMS_TO_HASH}`, NIL_UUID, indexPart, signal);
}

/** Makes the blocks of the next run. @returns how many items it has; 0 if there are no more, or another process does it */
async function indexRun(client: pg.ClientBase, partId: string): Promise<number> {
  const { rows } = await client.query<{ readonly from: number; readonly count: number }>(
    `SELECT hashed_items AS from, item_count AS count FROM parts WHERE id = $1 AND ${HAS_ITEMS_TO_HASH}
     FOR NO KEY UPDATE SKIP LOCKED`,
    [partId],
  );
  const [part] = rows;
  if (part === undefined) return 0;
  const { from, count } = part;
  const run = Math.floor(from / RUN_ITEMS);
  const first = run * RUN_ITEMS;
  const end = Math.min(first + RUN_ITEMS, count);
  await client.query(IN_MEMORY_AND_ORDER);
  // The last run had fewer items before others were appended.
  if (from > first)
    await client.query('DELETE FROM hash_blocks WHERE part_id = $1 AND run = $2', [partId, run]);
  await client.query(INSERT_BLOCKS, [partId, run, first, end]);
  await client.query('UPDATE parts SET hashed_items = $2 WHERE id = $1', [partId, end]);
  return end - from;
}

/** A run is read by the primary key, however many items the table has, and takes 8 MB to sort. */
const IN_MEMORY_AND_ORDER =
  "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off; SET LOCAL work_mem = '16MB'";
