import type { Parameters } from '../database/page.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { ofParts, partsOf } from './item-ranges.ts';
import { ofVersion } from './version-sql.ts';

/** Where an item is stored. */
export interface ItemPlace {
  readonly partId: string;
  readonly ordinal: number;
}

/** Where an item is in a version. */
export interface ItemPosition {
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
}

/** Positions as columns: parameters of a statement. */
export function positionColumns(positions: readonly ItemPosition[]): [sections: number[], items: number[]] {
  return [
    positions.map(({ sectionOrderIndex }) => sectionOrderIndex),
    positions.map(({ orderIndex }) => orderIndex),
  ];
}

/** Finds where items of a version are stored, in their order; null for a position that it does not have. */
export async function readPlaces(
  query: ReadQuery,
  { datasetId, version }: { readonly datasetId: string; readonly version: number | null },
  positions: readonly ItemPosition[],
): Promise<(ItemPlace | null)[]> {
  const rows = await query<ItemPlace & { readonly n: number }>(
    `SELECT wanted.n::int, s.part_ids[range] AS "partId", wanted.item - s.starts[range] + s.firsts[range] AS ordinal
     FROM unnest($3::int[], $4::int[]) WITH ORDINALITY AS wanted (section, item, n)
       JOIN version_sections s ON ${ofVersion('$1', '$2')} AND s.order_index = wanted.section
       CROSS JOIN LATERAL width_bucket(wanted.item, s.starts) AS range
     WHERE wanted.item >= 0 AND wanted.item < s.item_count`,
    [datasetId, version, ...positionColumns(positions)],
  );
  const places: (ItemPlace | null)[] = positions.map(() => null);
  for (const { n, partId, ordinal } of rows) places[n - 1] = { partId, ordinal };
  return places;
}

/**
 * For a FROM clause: the rows `i` of `items` at places, with the number `place.n` of each, from 1. The shards of parts are
 * found by values alone. ORDER BY keeps the planner from reading the parts as a whole: right after an import it may have no
 * idea of how many items they have.
 */
export function itemsAt(places: readonly (ItemPlace | null)[], { add }: Parameters): string {
  const partIds = places.map((place) => place?.partId ?? null);
  const ordinals = `${add(places.map((place) => place?.ordinal ?? null))}::int[]`;
  return `unnest(${add(partIds)}::uuid[], ${ordinals}) WITH ORDINALITY AS place (part_id, ordinal, n) CROSS JOIN LATERAL (
      SELECT i.* FROM items i WHERE ${ofParts(add(partsOf(partIds)))} AND i.part_id = place.part_id AND i.ordinal = place.ordinal ORDER BY i.ordinal
    ) AS i`;
}
