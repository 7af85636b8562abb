import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { searchableText } from '../database/values.ts';
import { itemsOf } from '../items/version-sql.ts';

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
export interface EditedPlace {
  readonly edit: Edit;
  /** Order index of the section. */
  readonly section: number;
  readonly position: number;
}

/**
 * Finds the items of edits in a version.
 *
 * @throws StoreError `item_not_found`; `ambiguous_id` for a name that fits several items, and for two edits of one item
 */
export async function placeEdits(
  client: pg.ClientBase,
  { datasetId, version }: { readonly datasetId: string; readonly version: number },
  edits: readonly Edit[],
): Promise<EditedPlace[]> {
  const hashes = edits.flatMap(({ item }) => ('hash' in item ? [Buffer.from(item.hash, 'hex')] : []));
  const ids = edits.flatMap(({ item }) => ('id' in item ? [searchableText(item.id)] : []));
  const { rows } = await client.query<FoundItem>(
    `SELECT s.name, s.order_index AS section, i.order_index AS position, encode(i.item_hash, 'hex') AS hash,
       i.item_id AS id
     FROM version_sections s
       CROSS JOIN LATERAL ${itemsOf('AND (i.item_hash = ANY ($3::bytea[]) OR i.item_id = ANY ($4::text[]))')} i
     WHERE s.dataset_id = $1 AND s.version = $2 LIMIT ${MAX_FOUND}`,
    [datasetId, version, hashes, ids],
  );
  const byHash = Map.groupBy(rows, ({ hash }) => hash);
  const byId = Map.groupBy(rows, ({ id }) => id);
  const places = new Map<string, EditedPlace>();
  for (const edit of edits) {
    const { item, section } = edit;
    const shown = 'hash' in item ? `hash ${item.hash}` : `id ${shortened(item.id)}`;
    const named = ('hash' in item ? byHash.get(item.hash) : byId.get(item.id)) ?? [];
    const found = named.filter(({ name }) => section === undefined || name === section);
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

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

interface FoundItem {
  readonly name: string;
  readonly section: number;
  readonly position: number;
  readonly hash: string;
  readonly id: string | null;
}
