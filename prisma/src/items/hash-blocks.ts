/*
 * Where items with a hash are. A run of 65,536 items of a section has one row of `hash_blocks` for each first byte of their
 * hashes. Its entries are numbers in ascending order: the next 15 bits of a hash, then the place of the item in the run.
 * An index of all hashes would cost each import a lot; these blocks are made later, see `indexHashes`.
 */

/** Items of a run. */
export const RUN_ITEMS = 65_536;
/** Smaller sections have no blocks: reading them is fast. The index `sections_to_hash` has this number too. */
const MIN_ITEMS = 4_096;

/** SQL: whether a section of `sections` is to get blocks. */
export const HAS_ITEMS_TO_HASH: string = `item_count >= ${MIN_ITEMS} AND hashed_items < item_count`;

/**
 * SQL that makes the blocks of a run: `$1` section, `$2` number of the run, `$3` and `$4` its first item and the first
 * after it. OFFSET keeps the server from computing each entry again where it sorts them.
 */
export const INSERT_BLOCKS: string = `INSERT INTO hash_blocks (section_id, bucket, run, entries)
  SELECT $1::uuid, bucket, $2::int, array_agg(entry ORDER BY entry) FROM (
    SELECT get_byte(item_hash, 0) AS bucket,
      (((get_byte(item_hash, 1) << 7) | (get_byte(item_hash, 2) >> 1)) << 16) | (order_index & ${RUN_ITEMS - 1}) AS entry
    FROM items WHERE section_id = $1 AND order_index >= $3 AND order_index < $4 OFFSET 0
  ) AS hashed GROUP BY bucket`;

/**
 * SQL after `FROM sections s`: the positions `found (item)` of items that may have a hash, and of one in 8 million others.
 * It lacks the items from `s.hashed_items` on.
 *
 * @param hash 64 hex digits
 */
export function joinPositions(hash: string, parameter: (value: unknown) => string): string {
  const bucket = Number.parseInt(hash.slice(0, 2), 16);
  const first = (Number.parseInt(hash.slice(2, 6), 16) >> 1) * RUN_ITEMS;
  const entriesUpTo = (last: number): string => `width_bucket(${parameter(last)}::int, block.entries)`;
  // OFFSET keeps the server from reading the blocks of all sections at once.
  return `CROSS JOIN LATERAL (
      SELECT block.run * ${RUN_ITEMS} + (entry & ${RUN_ITEMS - 1}) AS item
      FROM hash_blocks block CROSS JOIN LATERAL
        unnest(block.entries[${entriesUpTo(first - 1)} + 1 : ${entriesUpTo(first + RUN_ITEMS - 1)}]) AS entry
      WHERE s.hashed_items > 0 AND block.section_id = s.id AND block.bucket = ${parameter(bucket)}::int OFFSET 0
    ) AS found`;
}
