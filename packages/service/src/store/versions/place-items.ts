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

/**
 * Pairs staged items with the items of a section by their ids. Items that are what is stored already are in neither list.
 */
export async function placeUpsert(
  client: pg.ClientBase,
  ranges: readonly ItemRange[],
  staged: readonly ItemRange[],
) {
  const query = queryOf(client);
  const body = new Parameters();
  const items = itemsInRanges(toSectionRanges([staged]), body);
  // Before the join, which has as many rows as the section only if no id of the body repeats.
  const [checked] = await query<{ readonly unnamed: number | null; readonly repeated: string | null }>(
    `WITH body AS MATERIALIZED (SELECT order_index AS ordinal, item_id AS id FROM ${items} i)
     SELECT (SELECT min(ordinal) FROM body WHERE id IS NULL) AS unnamed, (${repeatedIn('body')}) AS repeated`,
    body.values,
  );
  if (checked?.unnamed != null) throw ambiguous(`item ${checked.unnamed + 1} of the body has no id`);
  refuseRepeated(checked?.repeated);
  const parameters = new Parameters();
  const sql = placed(
    itemsInRanges(toSectionRanges([staged]), parameters),
    itemsInRanges(toSectionRanges([ranges]), parameters),
  );
  const [found] = await withHashJoins(query, () => query<PlacedItems>(sql, parameters.values));
  const { repeated, positions, ordinals, added } = found as PlacedItems;
  refuseRepeated(repeated);
  const find = rangeFinder(staged);
  return {
    /** Items that take the place of others, in the order of those. */
    edits: (positions ?? []).map((position, index): ItemEdit => {
      const [{ partId, first }] = find(ordinals?.[index] as number, 1) as [ItemRange];
      return { position, item: { partId, ordinal: first } };
    }),
    appended: (added ?? []).flatMap(([first, count]) => find(first, count)),
  };
}

interface PlacedItems {
  readonly repeated: string | null;
  /** Of items that change, and in the body those that take their place. */
  readonly positions: readonly number[] | null;
  readonly ordinals: readonly number[] | null;
  /** Consecutive items of the body that are new. */
  readonly added: readonly (readonly [first: number, count: number])[] | null;
}

/** @param staged @param old subqueries for the items of a body, and of a section */
const placed = (staged: string, old: string): string => `WITH placed AS MATERIALIZED (
    SELECT staged.ordinal, staged.id, old.position, coalesce(old.item_hash = staged.item_hash, false) AS is_same
    FROM (SELECT i.order_index AS ordinal, i.item_hash, i.item_id AS id FROM ${staged} i) AS staged
      LEFT JOIN (SELECT i.order_index AS position, i.item_hash, i.item_id AS id FROM ${old} i) AS old USING (id)
  ), changed AS (
    SELECT array_agg(position ORDER BY position) AS positions, array_agg(ordinal ORDER BY position) AS ordinals
    FROM placed WHERE position IS NOT NULL AND NOT is_same
  ), islands AS (
    SELECT min(ordinal) AS first, count(*) AS count FROM (
      SELECT ordinal, ordinal - row_number() OVER (ORDER BY ordinal) AS island FROM placed WHERE position IS NULL
    ) AS new GROUP BY island
  )
  SELECT (${repeatedIn('placed')}) AS repeated, changed.*,
    (SELECT json_agg(json_build_array(first, count) ORDER BY first) FROM islands) AS added
  FROM changed`;

const MAX_LISTED_IDS = 20;

/** @param rows of `(ordinal, id)` */
const repeatedIn = (rows: string): string => `SELECT string_agg(id, ', ' ORDER BY first) FROM (
    SELECT left(item.id, 100) AS id, min(ordinal) AS first FROM ${rows} AS item GROUP BY item.id HAVING count(*) > 1
    ORDER BY min(ordinal) LIMIT ${MAX_LISTED_IDS}
  ) AS repeated WHERE id IS NOT NULL`;

function refuseRepeated(ids: string | null | undefined): void {
  if (ids != null) throw ambiguous(`several items of the section or the body have the id ${ids}`);
}

const ambiguous = (reason: string): StoreError =>
  new StoreError('ambiguous_id', `Cannot upsert items: ${reason}.`);

export interface Edit {
  readonly section?: string | undefined;
  /** The item: its hash (64 hex digits), or its id as canonical JSON text. */
  readonly item: { readonly hash: string } | { readonly id: string };
  /** Whether the item is removed; else a staged one takes its place. */
  readonly isRemoval: boolean;
}

interface EditedPlace {
  readonly edit: Edit;
  readonly section: number;
  readonly position: number;
}

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

/** Ranges with items of a version, each once and in order, in place of equal staged ones: nothing is stored twice. */
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
