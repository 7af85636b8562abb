import type pg from 'pg';
import type { StoreContext } from '../context.ts';
import { sumOfRows } from '../database/collect-notes.ts';
import type { Parameters } from '../database/page.ts';
import { NIL_UUID } from '../database/values.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { cutRange, itemsInRanges, ofParts, rangesGiven, type SectionRange } from './item-ranges.ts';

/*
 * Where items with a hash are. A run of 65,536 items of a part has one row of `hash_blocks` for each first byte of their
 * hashes. Its entries are numbers in ascending order: the next 15 bits of a hash, then the place of the item in the run.
 * An index of all hashes would cost each import a lot; these blocks are made later, see `indexHashes`.
 */

export const RUN_ITEMS = 65_536;
/** So many items have no blocks: reading them is fast. The index `parts_to_hash` has this number too. */
const MIN_ITEMS = 4_096;

export const HAS_ITEMS_TO_HASH: string = `item_count - hashed_items >= ${MIN_ITEMS}`;

/**
 * SQL that makes the blocks of a run: `$1` part, `$2` number of the run, `$3` and `$4` its first item and the first
 * after it. OFFSET keeps the server from computing each entry again where it sorts them.
 */
export const INSERT_BLOCKS: string = `INSERT INTO hash_blocks (part_id, bucket, run, entries)
  SELECT $1::uuid, bucket, $2::int, array_agg(entry ORDER BY entry) FROM (
    SELECT get_byte(item_hash, 0) AS bucket,
      (((get_byte(item_hash, 1) << 7) | (get_byte(item_hash, 2) >> 1)) << 16) | (ordinal & ${RUN_ITEMS - 1}) AS entry
    FROM items WHERE part_id = $1 AND ordinal >= $3 AND ordinal < $4 OFFSET 0
  ) AS hashed GROUP BY bucket`;

export async function divideByBlocks(query: ReadQuery, ranges: readonly SectionRange[]) {
  const rows = await query<{ readonly id: string; readonly hashed: number }>(
    'SELECT id, hashed_items AS hashed FROM parts WHERE id = ANY ($1::uuid[]) AND hashed_items > 0',
    [[...new Set(ranges.map(({ partId }) => partId))]],
  );
  const hashedItems = new Map(rows.map(({ id, hashed }) => [id, hashed]));
  const hashedOf = ({ partId, first, count }: SectionRange): number =>
    Math.min(Math.max((hashedItems.get(partId) ?? 0) - first, 0), count);
  return {
    hashed: ranges.flatMap((range) => cutRange(range, 0, hashedOf(range))),
    unhashed: ranges.flatMap((range) => cutRange(range, hashedOf(range), range.count)),
  };
}

/**
 * A subquery for the positions `section` and `order_index` of the items with a hash: by the blocks of their parts, and what
 * has no blocks yet by reading it.
 *
 * @param condition on the row `i` of `items`, begins with AND; it asks for the whole hash, which blocks do not have
 */
export function foundByHash(
  hash: string,
  condition: string,
  { hashed, unhashed }: Awaited<ReturnType<typeof divideByBlocks>>,
  parameters: Parameters,
): string {
  const { add } = parameters;
  const bucket = Number.parseInt(hash.slice(0, 2), 16);
  const first = (Number.parseInt(hash.slice(2, 6), 16) >> 1) * RUN_ITEMS;
  const entriesUpTo = (last: number): string => `width_bucket(${add(last)}::int, block.entries)`;
  const { rows, parts } = rangesGiven(hashed, parameters);
  // ORDER BY keeps the server from reading items before it has found which.
  return `(
    WITH in_blocks AS MATERIALIZED (
      SELECT range.section, range.start + found.ordinal - range.first AS order_index FROM (
        SELECT block.part_id, block.run * ${RUN_ITEMS} + (entry & ${RUN_ITEMS - 1}) AS ordinal
        FROM hash_blocks block CROSS JOIN LATERAL
          unnest(block.entries[${entriesUpTo(first - 1)} + 1 : ${entriesUpTo(first + RUN_ITEMS - 1)}]) AS entry
        WHERE block.part_id = ANY (${parts}::uuid[]) AND block.bucket = ${add(bucket)}::int ORDER BY block.part_id
      ) AS found
      JOIN ${rows}
        ON range.part_id = found.part_id AND found.ordinal >= range.first AND found.ordinal < range.first + range.count
      JOIN items i ON ${ofParts(parts)} AND i.part_id = found.part_id AND i.ordinal = found.ordinal ${condition}
    ), without_blocks AS MATERIALIZED (
      SELECT section, order_index FROM ${itemsInRanges(unhashed, parameters, condition)} AS unhashed
    )
    SELECT * FROM in_blocks UNION ALL SELECT * FROM without_blocks
  )`;
}

/**
 * Makes the blocks in which items are looked up by their hash, of all parts that lack many, until all have them or `signal`
 * is aborted: one run for each transaction, which says up to which item the part has blocks. The items of a part never
 * change, so that blocks are right for as long as the part exists; they are deleted with it. Any number of processes may do
 * so concurrently.
 */
export async function indexHashes({ pool }: StoreContext, signal?: AbortSignal): Promise<number> {
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
