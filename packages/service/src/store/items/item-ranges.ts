import type { Parameters } from '../database/page.ts';
import { NIL_UUID } from '../database/values.ts';
import type { ReadQuery } from '../postgres/read-query.ts';

/**
 * Consecutive items of a section that are consecutive in a part. A statement takes ranges as values, because a distributed
 * PostgreSQL finds the shards of parts by values alone: what it reads by a join, it asks all nodes for.
 */
export interface SectionRange {
  readonly section: number;
  readonly partId: string;
  /** Position of the first item in the section. */
  readonly start: number;
  /** Ordinal of the first item in the part. */
  readonly first: number;
  readonly count: number;
}

interface RangesOfVersion {
  readonly datasetId: string;
  /** By default the newest. */
  readonly version?: number | null | undefined;
  /** Name of the section; by default all of them. */
  readonly section?: string | undefined;
}

const COLUMNS = `range.part_id AS "partId", range.start, range.first, range.stop - range.start AS count`;

/** Reads the ranges of a version, in the order of their items; none if there is no such version. */
export async function readRanges(query: ReadQuery, { datasetId, version = null, section }: RangesOfVersion) {
  return await query<SectionRange>(
    `SELECT s.order_index AS section, ${COLUMNS} FROM version_sections s CROSS JOIN LATERAL ${rangesOf()} AS range
     WHERE ${ofVersion('$1', '$2')} AND ($3::text IS NULL OR s.name = $3) ORDER BY section, range.start`,
    [datasetId, version, section ?? null],
  );
}

export async function readRangesOf(query: ReadQuery, sectionIds: readonly string[]) {
  return await query<SectionRange>(
    `SELECT (wanted.n - 1)::int AS section, ${COLUMNS} FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, n)
       JOIN sections s ON s.id = wanted.id CROSS JOIN LATERAL ${rangesOf()} AS range ORDER BY section, range.start`,
    [sectionIds],
  );
}

/** Reads where the items of a section are from position `from` up to, not including, position `to`. */
export async function readRangesBetween(query: ReadQuery, sectionId: string, from: number, to: number) {
  const ranges = await query<SectionRange>(
    `SELECT 0 AS section, ${COLUMNS} FROM sections s CROSS JOIN LATERAL ${rangesOf()} AS range
     WHERE s.id = $1 AND range.start < $3 AND range.stop > $2 ORDER BY range.start`,
    [sectionId, from, to],
  );
  return cutRanges(ranges, from, to);
}

/** Where the items of a section are from position `from` up to, not including, position `to`. */
export function cutRanges(ranges: readonly SectionRange[], from: number, to: number) {
  return ranges.flatMap((range) =>
    cutRange(range, Math.max(from - range.start, 0), Math.min(to - range.start, range.count)),
  );
}

/** The items of a range from its `from`-th up to, not including, its `to`-th; none if there are none. */
export function cutRange(range: SectionRange, from: number, to: number): SectionRange[] {
  if (to <= from) return [];
  return [{ ...range, start: range.start + from, first: range.first + from, count: to - from }];
}

/** Places values in the text of a statement, for a COPY, which takes no parameters: ids from the database, and integers. */
export const LITERALS: Pick<Parameters, 'add'> = {
  add: (values) => `'{${(values as readonly unknown[]).join(',')}}'`,
};

/** The ids of parts for {@link ofParts}, each once. Without any, Citus would ask all nodes. */
export function partsOf(ids: readonly (string | null)[]): readonly string[] {
  const parts = new Set(ids.filter((id) => id !== null));
  return parts.size === 0 ? [NIL_UUID] : [...parts];
}

/**
 * The condition that rows `i` of `items` are of parts, which tells Citus their shards. OR keeps PostgreSQL from making it a
 * condition of the index, where it would compare each part of the list for each range, or read the whole table instead.
 */
export function ofParts(partIds: string, i = 'i'): string {
  return `(${i}.part_id = ANY (${partIds}::uuid[]) OR ${i}.part_id = (${partIds}::uuid[])[1])`;
}

/** For a FROM clause: the rows `range (part_id, section, start, first, count)`, and the placeholder of their parts. */
export function rangesGiven(ranges: readonly SectionRange[], { add }: Pick<Parameters, 'add'>) {
  const partIds = ranges.map(({ partId }) => partId);
  const others = (['section', 'start', 'first', 'count'] as const).map(
    (name) => `${add(ranges.map((range) => range[name]))}::int[]`,
  );
  const rows = `unnest(${add(partIds)}::uuid[], ${others.join(', ')}) AS range (part_id, section, start, first, count)`;
  return { rows, parts: add(partsOf(partIds)) };
}

/**
 * A subquery for the items of ranges: the columns of `items`, their `section`, and their position `order_index` in it. Each
 * range is read by the primary key of `items`, one after the other: ORDER BY keeps the planner from another way, which would
 * compare each item with each range.
 *
 * @param condition on the row `i` of `items`, begins with AND
 */
export function itemsInRanges(
  ranges: readonly SectionRange[],
  parameters: Pick<Parameters, 'add'>,
  condition = '',
): string {
  const { rows, parts } = rangesGiven(ranges, parameters);
  return `(SELECT range.section, read.* FROM ${rows}
    CROSS JOIN LATERAL (
      SELECT range.start + i.ordinal - range.first AS order_index, i.* FROM items i
      WHERE ${ofParts(parts)} AND i.part_id = range.part_id AND i.ordinal >= range.first
        AND i.ordinal < range.first + range.count ${condition}
      ORDER BY i.ordinal
    ) AS read)`;
}

/*
 * SQL that reads the items of a version. A section is a row of ranges of parts (docs/decisions/versions-as-ranges.md): three
 * arrays with the part of each range, and the positions of its first item in the section (`starts`, which ascend from 0) and
 * in the part (`firsts`). All fragments read a row `s` of `sections`, or of the view `version_sections`.
 */

/** The condition that rows `s` of `version_sections` are of one version. */
export function ofVersion(dataset: string, version: string, s = 's'): string {
  return `${s}.dataset_id = ${dataset} AND ${s}.version = ${versionNumber(dataset, version)}`;
}

/** The number of a version, `version` or the newest one; null if there is no such dataset. */
export function versionNumber(dataset: string, version: string): string {
  return `coalesce(${version}::int, (SELECT version FROM datasets WHERE id = ${dataset}))`;
}

/** The condition that rows `s` of `version_sections` are of the version of a row `run` of `runs`. */
export function ofRun(run: string, s = 's'): string {
  return `${s}.dataset_id = ${run}.dataset_id AND ${s}.version = ${run}.dataset_version`;
}

/** The ranges of a section, for a FROM clause: rows `(part_id, start, first, stop)`, where `stop` is the position after the last item. */
export function rangesOf(s = 's'): string {
  return `(SELECT * FROM unnest(${s}.part_ids, ${s}.starts, ${s}.firsts, ${s}.starts[2:] || ${s}.item_count)
    AS range (part_id, start, first, stop) WHERE part_id IS NOT NULL)`;
}

/** The condition that a row `i` of `items` is at a position of section `s`. */
export function isItemAt(position: string, s = 's', i = 'i'): string {
  const range = `width_bucket(${position}, ${s}.starts)`;
  return `${i}.part_id = ${s}.part_ids[${range}] AND ${i}.ordinal = ${position} - ${s}.starts[${range}] + ${s}.firsts[${range}]`;
}

export interface ItemPlace {
  readonly partId: string;
  readonly ordinal: number;
}

export interface ItemPosition {
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
}

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
