import type { Parameters } from '../database/page.ts';
import { NIL_UUID } from '../database/values.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { ofVersion, rangesOf } from './version-sql.ts';

/**
 * Consecutive items of a section that are consecutive in a part. A statement takes ranges as values, because a distributed
 * PostgreSQL finds the shards of parts by values alone: what it reads by a join, it asks all nodes for.
 */
export interface SectionRange {
  /** Order of the section. */
  readonly section: number;
  /** UUID */
  readonly partId: string;
  /** Position of the first item in the section. */
  readonly start: number;
  /** Ordinal of the first item in the part. */
  readonly first: number;
  readonly count: number;
}

/** Which sections of a dataset. */
interface RangesOfVersion {
  readonly datasetId: string;
  /** By default the newest. */
  readonly version?: number | null | undefined;
  /** Name of the section; by default all of them. */
  readonly section?: string | undefined;
}

/** The columns of a {@link SectionRange} besides its section, of a row `range` of `rangesOf`. */
const COLUMNS = `range.part_id AS "partId", range.start, range.first, range.stop - range.start AS count`;

/** Reads the ranges of a version, in the order of their items; none if there is no such version. */
export async function readRanges(
  query: ReadQuery,
  { datasetId, version = null, section }: RangesOfVersion,
): Promise<readonly SectionRange[]> {
  return await query<SectionRange>(
    `SELECT s.order_index AS section, ${COLUMNS} FROM version_sections s CROSS JOIN LATERAL ${rangesOf()} AS range
     WHERE ${ofVersion('$1', '$2')} AND ($3::text IS NULL OR s.name = $3) ORDER BY section, range.start`,
    [datasetId, version, section ?? null],
  );
}

/** Reads the ranges of sections: `section` of a range is the index of its id. */
export async function readRangesOf(
  query: ReadQuery,
  sectionIds: readonly string[],
): Promise<readonly SectionRange[]> {
  return await query<SectionRange>(
    `SELECT (wanted.n - 1)::int AS section, ${COLUMNS} FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, n)
       JOIN sections s ON s.id = wanted.id CROSS JOIN LATERAL ${rangesOf()} AS range ORDER BY section, range.start`,
    [sectionIds],
  );
}

/** Reads where the items of a section are from position `from` up to, not including, position `to`. */
export async function readRangesBetween(
  query: ReadQuery,
  sectionId: string,
  from: number,
  to: number,
): Promise<readonly SectionRange[]> {
  const ranges = await query<SectionRange>(
    `SELECT 0 AS section, ${COLUMNS} FROM sections s CROSS JOIN LATERAL ${rangesOf()} AS range
     WHERE s.id = $1 AND range.start < $3 AND range.stop > $2 ORDER BY range.start`,
    [sectionId, from, to],
  );
  return cutRanges(ranges, from, to);
}

/** Where the items of a section are from position `from` up to, not including, position `to`. */
export function cutRanges(
  ranges: readonly SectionRange[],
  from: number,
  to: number,
): readonly SectionRange[] {
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
 *
 * @param partIds placeholder of the ids, see {@link partsOf}
 */
export function ofParts(partIds: string, i = 'i'): string {
  return `(${i}.part_id = ANY (${partIds}::uuid[]) OR ${i}.part_id = (${partIds}::uuid[])[1])`;
}

/** Ranges for a FROM clause. */
interface RangesGiven {
  /** The rows `range (part_id, section, start, first, count)`. */
  readonly rows: string;
  /** Placeholder of their parts, for {@link ofParts}. */
  readonly parts: string;
}

export function rangesGiven(ranges: readonly SectionRange[], { add }: Pick<Parameters, 'add'>): RangesGiven {
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
