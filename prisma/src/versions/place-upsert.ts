import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { itemsInRanges } from '../items/item-ranges.ts';
import { queryOf, withHashJoins } from '../postgres/read-query.ts';
import { type ItemEdit, type ItemRange, rangeFinder, toSectionRanges } from './ranges.ts';

/** Where the items of a body go in a section. */
interface PlacedItems {
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
 * @param staged ranges of the staged items
 * @throws StoreError `ambiguous_id` for an item without an id, and for an id that occurs twice on either side
 */
export async function placeUpsert(
  client: pg.ClientBase,
  ranges: readonly ItemRange[],
  staged: readonly ItemRange[],
): Promise<PlacedItems> {
  await refuseUnnamed(client, staged);
  // Before the join, which has as many rows as the section only if no id of the body repeats.
  const body = new Parameters();
  const items = itemsInRanges(toSectionRanges([staged]), body);
  await refuseRepeated(client, `SELECT order_index AS ordinal, item_id AS id FROM ${items} i`, body.values);
  await client.query('DROP TABLE IF EXISTS pg_temp.placed_items');
  await client.query(
    `CREATE TEMPORARY TABLE placed_items (ordinal int, id text, position int, is_same boolean) ON COMMIT DROP`,
  );
  const query = queryOf(client);
  const parameters = new Parameters();
  const placed = placeItems(staged, ranges, parameters);
  await withHashJoins(query, () => query(placed, parameters.values));
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
  const find = rangeFinder(staged);
  return {
    edits: (positions ?? []).map((position, index) => {
      const [{ partId, first }] = find(ordinals?.[index] as number, 1) as [ItemRange];
      return { position, item: { partId, ordinal: first } };
    }),
    appended: appended.rows.flatMap(({ first, count }) => find(first, count)),
  };
}

function placeItems(staged: readonly ItemRange[], old: readonly ItemRange[], parameters: Parameters): string {
  return `INSERT INTO pg_temp.placed_items
    WITH staged AS (SELECT i.order_index AS ordinal, i.item_hash, i.item_id AS id
        FROM ${itemsInRanges(toSectionRanges([staged]), parameters)} i),
      old AS (SELECT i.order_index AS position, i.item_hash, i.item_id AS id
        FROM ${itemsInRanges(toSectionRanges([old]), parameters)} i)
    SELECT staged.ordinal, staged.id, old.position, coalesce(old.item_hash = staged.item_hash, false)
    FROM staged LEFT JOIN old USING (id)`;
}

async function refuseUnnamed(client: pg.ClientBase, staged: readonly ItemRange[]): Promise<void> {
  const parameters = new Parameters();
  const unnamed = itemsInRanges(toSectionRanges([staged]), parameters, 'AND i.item_id IS NULL');
  const { rows } = await client.query<{ ordinal: number }>(
    `SELECT order_index AS ordinal FROM ${unnamed} i ORDER BY order_index LIMIT 1`,
    parameters.values,
  );
  if (rows[0] === undefined) return;
  throw new StoreError(
    'ambiguous_id',
    `Cannot upsert items: item ${rows[0].ordinal + 1} of the body has no id.`,
  );
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
