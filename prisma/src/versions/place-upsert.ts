import { queryOf } from '@svc/postgres';
import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { withHashJoins } from '../database/hash-joins.ts';
import { itemsOf, rangesGiven } from '../items/version-sql.ts';
import { type ItemEdit, type ItemRange, rangeValues } from './ranges.ts';

/** Where the items of a body go in a section. */
export interface PlacedItems {
  /** Items that take the place of others, in the order of those. */
  readonly edits: ItemEdit[];
  /** Items of new ids. */
  readonly appended: ItemRange[];
}

/** Ids that an error lists. */
const MAX_LISTED_IDS = 20;

/**
 * Pairs staged items with the items of a section by their ids. Items that are what is stored already are in neither list.
 *
 * @param ranges of the section
 * @throws StoreError `ambiguous_id` for an item without an id, and for an id that is there twice on either side
 */
export async function placeUpsert(
  client: pg.ClientBase,
  ranges: readonly ItemRange[],
  partId: string,
): Promise<PlacedItems> {
  await refuseUnnamed(client, partId);
  // Before the join, whose rows are as many as those of the section only when no id of the body repeats.
  await refuseRepeated(client, 'SELECT ordinal, item_id AS id FROM items WHERE part_id = $1', [partId]);
  await client.query('DROP TABLE IF EXISTS pg_temp.placed_items');
  await client.query(
    `CREATE TEMPORARY TABLE placed_items (ordinal int, id text, position int, is_same boolean) ON COMMIT DROP`,
  );
  const query = queryOf(client);
  await withHashJoins(query, () => query(PLACE_ITEMS, [partId, ...rangeValues(ranges)]));
  await refuseRepeated(client, 'SELECT ordinal, id FROM pg_temp.placed_items', []);
  const edits = await client.query<{ positions: number[] | null; ordinals: number[] | null }>(
    `SELECT array_agg(position ORDER BY position) AS positions, array_agg(ordinal ORDER BY position) AS ordinals
     FROM pg_temp.placed_items WHERE position IS NOT NULL AND NOT is_same`,
  );
  const appended = await client.query<{ first: number; count: number }>(
    `SELECT min(ordinal) AS first, count(*)::int AS count FROM (
       SELECT ordinal, ordinal - row_number() OVER (ORDER BY ordinal) AS island FROM pg_temp.placed_items WHERE position IS NULL
     ) AS added GROUP BY island ORDER BY 1`,
  );
  const { positions, ordinals } = edits.rows[0] as { positions: number[] | null; ordinals: number[] | null };
  return {
    edits: (positions ?? []).map((position, index) => ({
      position,
      item: { partId, ordinal: ordinals?.[index] as number },
    })),
    appended: appended.rows.map(({ first, count }) => ({ partId, first, count })),
  };
}

/** $1 the staged part; $2 to $5 the section. */
const PLACE_ITEMS = `INSERT INTO pg_temp.placed_items
  WITH staged AS (SELECT ordinal, item_hash, item_id AS id FROM items WHERE part_id = $1),
    old AS (SELECT i.order_index AS position, i.item_hash, i.item_id AS id
      FROM ${rangesGiven(2)} CROSS JOIN LATERAL ${itemsOf()} i)
  SELECT staged.ordinal, staged.id, old.position, coalesce(old.item_hash = staged.item_hash, false)
  FROM staged LEFT JOIN old USING (id)`;

async function refuseUnnamed(client: pg.ClientBase, partId: string): Promise<void> {
  const { rows } = await client.query<{ ordinal: number }>(
    'SELECT ordinal FROM items WHERE part_id = $1 AND item_id IS NULL ORDER BY ordinal LIMIT 1',
    [partId],
  );
  if (rows[0] === undefined) return;
  throw new StoreError('ambiguous_id', `Cannot upsert items: item ${rows[0].ordinal} of the body has no id.`);
}

/** @param items a query for rows `(ordinal, id)` */
async function refuseRepeated(
  client: pg.ClientBase,
  items: string,
  values: readonly unknown[],
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT left(item.id, 100) AS id FROM (${items}) AS item GROUP BY item.id HAVING count(*) > 1
     ORDER BY min(ordinal) LIMIT ${MAX_LISTED_IDS}`,
    [...values],
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id).join(', ');
  throw new StoreError(
    'ambiguous_id',
    `Cannot upsert items: several items of the section or the body have the id ${ids}.`,
  );
}
