import { Parameters } from '../database/page.ts';
import { boundedName } from '../database/values.ts';
import {
  type ItemPosition,
  isItemAt,
  itemsAt,
  ofParts,
  ofVersion,
  partsOf,
  readPlaces,
} from '../items/item-ranges.ts';
import { type ItemCandidate, readSizedItems, type SizedItem } from '../items/read-item-texts.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import type { VersionOfRun } from './run-row.ts';

export const keyOf = (at: ItemPosition): string => `${at.sectionOrderIndex} ${at.orderIndex}`;

export async function readSectionNames(
  query: ReadQuery,
  { datasetId, version }: VersionOfRun,
  sections: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await query<{ readonly name: string; readonly section: number }>(
    `SELECT s.order_index AS section, ${boundedName('s.name')} AS name FROM version_sections s
     WHERE ${ofVersion('$1', '$2')} AND s.order_index = ANY ($3::int[])`,
    [datasetId, version, [...new Set(sections)]],
  );
  return new Map(rows.map(({ section, name }) => [section, name]));
}

export async function readItemHashes(
  query: ReadQuery,
  version: VersionOfRun,
  positions: readonly ItemPosition[],
): Promise<ReadonlyMap<number, Buffer>> {
  const places = await readPlaces(query, version, positions);
  const parameters = new Parameters();
  const rows = await query<{ readonly n: number; readonly itemHash: Buffer }>(
    `SELECT place.n::int, i.item_hash AS "itemHash" FROM ${itemsAt(places, parameters)}`,
    parameters.values,
  );
  return new Map(rows.map(({ n, itemHash }) => [n - 1, itemHash]));
}

/** Reads what `planItems` needs of items, each once, in order; without positions that the version does not have. */
export async function readCandidatesAt(
  query: ReadQuery,
  version: VersionOfRun,
  positions: readonly ItemPosition[],
): Promise<readonly (ItemCandidate & ItemPosition & SizedItem)[]> {
  if (positions.length === 0) return [];
  const wanted = [...new Map(positions.map((position) => [keyOf(position), position])).values()].sort(
    (a, b) => a.sectionOrderIndex - b.sectionOrderIndex || a.orderIndex - b.orderIndex,
  );
  const sections = wanted.map(({ sectionOrderIndex }) => sectionOrderIndex);
  const places = await readPlaces(query, version, wanted);
  const names = await readSectionNames(query, version, sections);
  const items = await readSizedItems(query, places);
  return wanted.flatMap(({ sectionOrderIndex, orderIndex }, index) => {
    const stored = items[index];
    if (stored == null) return [];
    const section = names.get(sectionOrderIndex) ?? '';
    return [{ section, sectionOrderIndex, orderIndex, ...stored }];
  });
}

/** More parts than this are on all nodes of a distributed PostgreSQL, which need not know of them. */
const MAX_PARTS = 64;

/** The parts that have the items of a version; null for more than a statement is to name. */
async function readParts(query: ReadQuery, { datasetId, version }: VersionOfRun) {
  const rows = await query<{ readonly id: string }>(
    `SELECT DISTINCT part AS id FROM version_sections s CROSS JOIN LATERAL unnest(s.part_ids) AS part
     WHERE ${ofVersion('$1', '$2')} AND part IS NOT NULL LIMIT ${MAX_PARTS + 1}`,
    [datasetId, version],
  );
  return rows.length > MAX_PARTS ? null : rows.map(({ id }) => id);
}

/** What {@link joinItems} needs of a version. */
export interface JoinedVersion extends VersionOfRun {
  /** See {@link readParts}. */
  readonly parts: readonly string[] | null;
}

export async function readJoinedVersion(query: ReadQuery, version: VersionOfRun): Promise<JoinedVersion> {
  return { ...version, parts: await readParts(query, version) };
}

/** Names in a statement that joins items to many rows. */
interface JoinedNames {
  /** Name of a materialized part of the statement, with `section_order_index` and `order_index`. */
  readonly rows: string;
  /** Name of the part that this adds. */
  readonly sections?: string;
}

/**
 * SQL that joins items to many rows: a distributed PostgreSQL sends the rows and the sections to the items.
 *
 * @returns `cte`, a further part of WITH; `sections` and `items`, which follow the rows in FROM, with the rows `s` and `i`
 */
export function joinItems(
  { datasetId, version, parts }: JoinedVersion,
  add: (value: unknown) => string,
  { rows, sections = 'section' }: JoinedNames,
): { readonly cte: string; readonly sections: string; readonly items: string } {
  const isOfParts = parts === null ? '' : `AND ${ofParts(add(partsOf(parts)))}`;
  return {
    cte: `${sections} AS (
    SELECT s.order_index, s.name, s.part_ids, s.starts, s.firsts FROM version_sections s
    WHERE s.dataset_id = ${add(datasetId)} AND s.version = ${add(version)}
  )`,
    sections: `JOIN ${sections} s ON s.order_index = ${rows}.section_order_index`,
    items: `JOIN items i ON ${isItemAt(`${rows}.order_index`)} ${isOfParts}`,
  };
}
