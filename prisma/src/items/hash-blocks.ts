import { rangesOf } from './version-sql.ts';

/*
 * Where items with a hash are. A run of 65,536 items of a part has one row of `hash_blocks` for each first byte of their
 * hashes. Its entries are numbers in ascending order: the next 15 bits of a hash, then the place of the item in the run.
 * An index of all hashes would cost each import a lot; these blocks are made later, see `indexHashes`.
 */

/** Items of a run. */
export const RUN_ITEMS = 65_536;
/** So many items have no blocks: reading them is fast. The index `parts_to_hash` has this number too. */
const MIN_ITEMS = 4_096;

/** SQL: whether a part of `parts` is to get blocks. */
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

/**
 * A subquery for the positions `order_index` of the items of a section `s` with a hash: by the blocks of its parts, and what
 * has no blocks yet by reading it.
 *
 * @param hash 64 hex digits
 * @param condition on the row `i` of `items`, begins with AND; it asks for the whole hash, which blocks do not have
 */
export function foundByHash(hash: string, condition: string, parameter: (value: unknown) => string): string {
  const bucket = Number.parseInt(hash.slice(0, 2), 16);
  const first = (Number.parseInt(hash.slice(2, 6), 16) >> 1) * RUN_ITEMS;
  const entriesUpTo = (last: number): string => `width_bucket(${parameter(last)}::int, block.entries)`;
  const position = 'span.start + i.ordinal - span.first AS order_index';
  const stop = 'span.first + span.stop - span.start';
  // OFFSET keeps the server from reading the blocks of all parts together, and from preparing a large scan for nothing.
  return `(
    SELECT ${position} FROM (SELECT DISTINCT part_id FROM unnest(s.part_ids) AS part_id) AS of_section
      JOIN parts part ON part.id = of_section.part_id
      CROSS JOIN LATERAL (
        SELECT block.run * ${RUN_ITEMS} + (entry & ${RUN_ITEMS - 1}) AS ordinal
        FROM hash_blocks block CROSS JOIN LATERAL
          unnest(block.entries[${entriesUpTo(first - 1)} + 1 : ${entriesUpTo(first + RUN_ITEMS - 1)}]) AS entry
        WHERE part.hashed_items > 0 AND block.part_id = part.id AND block.bucket = ${parameter(bucket)}::int OFFSET 0
      ) AS found
      JOIN ${rangesOf()} AS span ON span.part_id = part.id AND found.ordinal >= span.first AND found.ordinal < ${stop}
      JOIN items i ON i.part_id = part.id AND i.ordinal = found.ordinal ${condition}
    UNION ALL
    SELECT unhashed.order_index FROM ${rangesOf()} AS span JOIN parts part ON part.id = span.part_id
      CROSS JOIN LATERAL (
        SELECT ${position} FROM items i
        WHERE i.part_id = span.part_id AND i.ordinal >= greatest(span.first, part.hashed_items) AND i.ordinal < ${stop}
          ${condition} OFFSET 0
      ) AS unhashed
    WHERE part.hashed_items < ${stop}
  )`;
}
