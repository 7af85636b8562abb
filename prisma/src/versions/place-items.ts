import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { searchableText, shortened } from '../database/values.ts';
import { itemsInRanges } from '../items/item-ranges.ts';
import { sectionNotFound } from '../items/list-items.ts';
import { queryOf, withHashJoins } from '../postgres/read-query.ts';
import type { StagedItems } from './insert-version.ts';
import {
  type ItemEdit,
  type ItemRange,
  itemCountOf,
  joinRanges,
  rangeFinder,
  toSectionRanges,
} from './ranges.ts';
import type { VersionState } from './read-version.ts';

/** Where the items of a body go in a section. */
interface PlacedItems {
  /** Items that take the place of others, in the order of those. */
  readonly edits: ItemEdit[];
  /** Items of new ids. */
  readonly appended: ItemRange[];
}

const MAX_LISTED_IDS = 20;

/**
 * Pairs staged items with the items of a section by their ids. Items that are what is stored already are in neither list.
 *
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

/** One edit of an item. */
export interface Edit {
  /** Name of its section; by default any. */
  readonly section?: string | undefined;
  /** The item: its hash (64 hex digits), or its id as canonical JSON text. */
  readonly item: { readonly hash: string } | { readonly id: string };
  /** Whether the item is removed; else a staged one takes its place. */
  readonly isRemoval: boolean;
}

/** Where an edited item is. */
interface EditedPlace {
  readonly edit: Edit;
  /** Order index of the section. */
  readonly section: number;
  readonly position: number;
}

/**
 * Finds the items of edits in a version.
 *
 * @throws StoreError `section_not_found`, `item_not_found`; `ambiguous_id` for a name that fits several items, and for two edits of one item
 */
export async function placeEdits(
  client: pg.ClientBase,
  { sections }: Pick<VersionState, 'sections'>,
  edits: readonly Edit[],
): Promise<EditedPlace[]> {
  const hashes = edits.flatMap(({ item }) => ('hash' in item ? [Buffer.from(item.hash, 'hex')] : []));
  const ids = edits.flatMap(({ item }) => ('id' in item ? [searchableText(item.id)] : []));
  const parameters = new Parameters([hashes, ids]);
  const items = itemsInRanges(
    toSectionRanges(sections.map(({ ranges }) => ranges)),
    parameters,
    'AND (i.item_hash = ANY ($1::bytea[]) OR i.item_id = ANY ($2::text[]))',
  );
  const { rows } = await client.query<FoundItem>(
    `SELECT section, order_index AS position, encode(item_hash, 'hex') AS hash, item_id AS id
     FROM ${items} i LIMIT ${MAX_FOUND}`,
    parameters.values,
  );
  const names = new Set(sections.map(({ name }) => name));
  const byHash = Map.groupBy(rows, ({ hash }) => hash);
  const byId = Map.groupBy(rows, ({ id }) => id);
  const places = new Map<string, EditedPlace>();
  for (const edit of edits) {
    const { item, section: name } = edit;
    if (name !== undefined && !names.has(name)) throw sectionNotFound(name);
    const shown = 'hash' in item ? `hash ${item.hash}` : `id ${shortened(item.id)}`;
    const named = ('hash' in item ? byHash.get(item.hash) : byId.get(item.id)) ?? [];
    const found = named.filter(({ section }) => name === undefined || sections[section]?.name === name);
    const [place] = found;
    if (place === undefined)
      throw new StoreError('item_not_found', `The dataset has no item with the ${shown}.`);
    if (found.length > 1) throw new StoreError('ambiguous_id', `Several items have the ${shown}.`);
    const key = `${place.section} ${place.position}`;
    if (places.has(key)) throw new StoreError('ambiguous_id', `Two edits name the item with the ${shown}.`);
    places.set(key, { edit, section: place.section, position: place.position });
  }
  return [...places.values()];
}

/** An edit names one item; items beyond this are of names that fit many. */
const MAX_FOUND = 100_000;

interface FoundItem {
  readonly section: number;
  readonly position: number;
  readonly hash: string;
  readonly id: string | null;
}

/**
 * The ranges of each of the staged sections, with items of a version in place of the staged ones that equal them: what is stored
 * is not stored again. Equal items are taken in their order, each once.
 */
export async function reuseItems(
  client: pg.ClientBase,
  { sections }: Pick<VersionState, 'sections'>,
  staged: readonly StagedItems[],
): Promise<ItemRange[][]> {
  const query = queryOf(client);
  const parameters = new Parameters();
  const sql = reused(
    itemsInRanges(toSectionRanges(sections.map(({ ranges }) => ranges)), parameters),
    itemsInRanges(toSectionRanges(staged.map(({ ranges }) => ranges)), parameters),
  );
  const rows = await withHashJoins(query, () => query<ReusedRange>(sql, parameters.values));
  const bySection = Map.groupBy(rows, ({ section }) => section);
  return staged.map((items, index) => joinRanges(rangesWith(items, bySection.get(index) ?? [])));
}

function* rangesWith({ ranges }: StagedItems, equal: readonly ReusedRange[]): Generator<ItemRange> {
  const find = rangeFinder(ranges);
  let at = 0;
  for (const { staged, count, part, first } of equal) {
    yield* find(at, staged - at);
    yield { partId: part, first, count };
    at = staged + count;
  }
  yield* find(at, itemCountOf(ranges) - at);
}

interface ReusedRange {
  /** Index of the staged section. */
  readonly section: number;
  /** Position of the first staged item. */
  readonly staged: number;
  readonly count: number;
  /** Where the first of the equal items is. */
  readonly part: string;
  readonly first: number;
}

/** @param old @param staged subqueries for the items of sections */
const reused = (old: string, staged: string): string => `WITH old AS MATERIALIZED (
    SELECT part_id, ordinal, item_hash, row_number() OVER (PARTITION BY item_hash ORDER BY section, order_index) AS occurrence
    FROM ${old} i
  ), staged AS MATERIALIZED (
    SELECT section, order_index, item_hash, row_number() OVER (PARTITION BY item_hash ORDER BY section, order_index) AS occurrence
    FROM ${staged} i
  ), equal AS (
    SELECT staged.section, staged.order_index AS staged, old.part_id, old.ordinal,
      staged.order_index - row_number() OVER (
        PARTITION BY staged.section, old.part_id, old.ordinal - staged.order_index ORDER BY staged.order_index) AS island
    FROM staged JOIN old USING (item_hash, occurrence)
  )
  SELECT section, min(staged) AS staged, count(*)::int AS count, part_id AS part, min(ordinal) AS first
  FROM equal GROUP BY section, part_id, ordinal - staged, island ORDER BY section, 2`;
