import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { searchableText, shortened } from '../database/values.ts';
import { itemsInRanges } from '../items/item-ranges.ts';
import { sectionNotFound } from '../items/list-items.ts';
import { toSectionRanges } from './ranges.ts';
import type { VersionState } from './read-version.ts';

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
