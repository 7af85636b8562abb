import type { ReadQuery } from '@svc/postgres';
import { isItemAt, itemsOf, ofRun } from '../../items/version-sql.ts';
import type { ItemPosition } from '../read-stored-outputs.ts';
import type { Run } from '../run-row.ts';
import { type RunSection, sectionsOf } from './find-missing.ts';

/** What a result from outside says of its item: where it is, or its id or hash, or several of these. */
export interface ItemReference {
  /** Both or none. */
  readonly section: string | null;
  readonly orderIndex: number | null;
  /** JSON text. */
  readonly itemId: string | null;
  /** 64 hex digits. */
  readonly itemHash: string | null;
}

/** An item of the run, or why a reference names none. */
export type LocatedItem =
  | (ItemPosition & { readonly section: string; readonly itemId: string | null })
  | { readonly problem: string };

interface FoundItem extends ItemPosition {
  readonly key: string;
  readonly itemId: string | null;
  readonly itemHash: string;
  readonly count: number;
}

const chosen = (hasSelection: boolean, section: string, item: string): string =>
  hasSelection
    ? `JOIN run_items chosen ON chosen.run_id = run.id AND chosen.section_order_index = ${section} AND chosen.order_index = ${item}`
    : '';

/** $1 the run, $2 and $3 the positions; the key is the position's number among them. */
const byPosition = (hasSelection: boolean): string => `
  SELECT wanted.n::text AS key, s.order_index AS "sectionOrderIndex", wanted.item AS "orderIndex", i.item_id AS "itemId",
    encode(i.item_hash, 'hex') AS "itemHash", 1 AS count
  FROM runs run CROSS JOIN unnest($2::int[], $3::int[]) WITH ORDINALITY AS wanted (section, item, n)
    JOIN version_sections s ON ${ofRun('run')} AND s.order_index = wanted.section
    JOIN items i ON ${isItemAt('wanted.item')} ${chosen(hasSelection, 'wanted.section', 'wanted.item')}
  WHERE run.id = $1`;

/** $1 the run, $2 the keys; each with its first item, and how many have it. Reads a column of all items. */
const byKey = (hasSelection: boolean, key: string, condition: string): string => `
  SELECT key, (array_agg(section ORDER BY section, item))[1] AS "sectionOrderIndex",
    (array_agg(item ORDER BY section, item))[1] AS "orderIndex", min(id) AS "itemId", min(hash) AS "itemHash",
    count(*)::int AS count
  FROM (
    SELECT ${key} AS key, s.order_index AS section, i.order_index AS item, i.item_id AS id, encode(i.item_hash, 'hex') AS hash
    FROM runs run JOIN version_sections s ON ${ofRun('run')} CROSS JOIN LATERAL ${itemsOf(condition)} i
      ${chosen(hasSelection, 's.order_index', 'i.order_index')}
    WHERE run.id = $1
  ) AS found GROUP BY key`;

/** Finds the items of a run that results from outside name. */
export async function createLocator(
  query: ReadQuery,
  { id, hasSelection }: Pick<Run, 'id' | 'hasSelection'>,
): Promise<(references: readonly ItemReference[]) => Promise<readonly LocatedItem[]>> {
  const sections = new Map((await sectionsOf(query, id)).map((section) => [section.name, section]));
  const positionSql = byPosition(hasSelection);
  const idSql = byKey(hasSelection, 'i.item_id', 'AND i.item_id = ANY ($2::text[])');
  const hashSql = byKey(hasSelection, `encode(i.item_hash, 'hex')`, 'AND i.item_hash = ANY ($2::bytea[])');
  const find = async (sql: string, ...values: unknown[]): Promise<ReadonlyMap<string, FoundItem>> =>
    new Map((await query<FoundItem>(sql, [id, ...values])).map((row) => [row.key, row]));

  return async (references) => {
    const placed = references.map((reference) => placeOf(reference, sections));
    const positions = placed.filter((place) => place !== null && !('problem' in place)) as ItemPosition[];
    const others = references.filter((_, index) => placed[index] === null);
    const ids = [...new Set(others.flatMap(({ itemId }) => itemId ?? []))];
    const hashes = [
      ...new Set(others.flatMap(({ itemId, itemHash }) => (itemId === null ? (itemHash ?? []) : []))),
    ];
    const [atPosition, withId, withHash] = await Promise.all([
      positions.length === 0
        ? NONE
        : find(
            positionSql,
            positions.map(({ sectionOrderIndex }) => sectionOrderIndex),
            positions.map(({ orderIndex }) => orderIndex),
          ),
      ids.length === 0 ? NONE : find(idSql, ids),
      hashes.length === 0
        ? NONE
        : find(
            hashSql,
            hashes.map((hash) => Buffer.from(hash, 'hex')),
          ),
    ]);
    const names = [...sections.values()].map(({ name }) => name);
    let n = 0;
    return references.map((reference, index): LocatedItem => {
      const place = placed[index];
      if (place != null && 'problem' in place) return place;
      const { itemId, itemHash } = reference;
      const found =
        place != null
          ? atPosition.get(String(++n))
          : itemId !== null
            ? withId.get(itemId)
            : withHash.get(itemHash ?? '');
      if (found === undefined) return { problem: 'names no item of the run' };
      if (found.count > 1) {
        return { problem: `names ${found.count} items: use section and order_index` };
      }
      if (itemId !== null && found.itemId !== itemId) return { problem: 'item_id is not that of the item' };
      if (itemHash !== null && found.itemHash !== itemHash) {
        return { problem: 'item_hash is not that of the item' };
      }
      const { sectionOrderIndex, orderIndex } = found;
      return { sectionOrderIndex, orderIndex, itemId: found.itemId, section: names[sectionOrderIndex] ?? '' };
    });
  };
}

const NONE: ReadonlyMap<string, FoundItem> = new Map();

/** The position that a reference states; null where it states none. */
function placeOf(
  { section, orderIndex }: ItemReference,
  sections: ReadonlyMap<string, RunSection>,
): ItemPosition | { readonly problem: string } | null {
  if (section === null || orderIndex === null) return null;
  const found = sections.get(section);
  if (found === undefined) return { problem: 'names no section of the run' };
  if (orderIndex >= found.itemCount) return { problem: `names no item: the section has ${found.itemCount}` };
  return { sectionOrderIndex: found.orderIndex, orderIndex };
}
