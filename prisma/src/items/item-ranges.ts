import type { ReadQuery } from '@svc/postgres';
import type { Parameters } from '../database/page.ts';
import { ofVersion, rangesOf } from './version-sql.ts';

/**
 * Where the items of sections are, as columns: one entry of each for a range of items of one part. A statement takes them as
 * values, because a distributed PostgreSQL finds the shards of parts by values alone: what it reads by a join, it asks all
 * nodes for.
 */
export interface ItemRanges {
  /** Order of the section. */
  readonly sections: readonly number[];
  /** UUIDs */
  readonly partIds: readonly string[];
  /** Position of the first item in the section. */
  readonly starts: readonly number[];
  /** Ordinal of the first item in the part. */
  readonly firsts: readonly number[];
  readonly counts: readonly number[];
}

/** Which sections of a dataset. */
export interface RangesOfVersion {
  readonly datasetId: string;
  /** By default the newest. */
  readonly version?: number | null | undefined;
  /** Name of the section; by default all of them. */
  readonly section?: string | undefined;
}

/** Reads the ranges of a version, in the order of their items; none if there is no such version. */
export async function readRanges(
  query: ReadQuery,
  { datasetId, version = null, section }: RangesOfVersion,
): Promise<ItemRanges> {
  const [row] = await query<ItemRanges>(
    `SELECT ${RANGE_COLUMNS} FROM (
       SELECT s.order_index AS section, range.* FROM version_sections s CROSS JOIN LATERAL ${rangesOf()} AS range
       WHERE ${ofVersion('$1', '$2')} AND ($3::text IS NULL OR s.name = $3)
     ) AS range`,
    [datasetId, version, section ?? null],
  );
  return row as ItemRanges;
}

/**
 * The condition that rows `i` of `items` are of parts, by which Citus finds their shards. OR keeps PostgreSQL from making it a
 * condition of the index, where it would compare each part of the list for each range, or read the whole table instead.
 *
 * @param partIds placeholder of the ids
 */
export function ofParts(partIds: string, i = 'i'): string {
  return `(${i}.part_id = ANY (${partIds}::uuid[]) OR ${i}.part_id = (${partIds}::uuid[])[1])`;
}

/** Reads the ranges of sections: `sections` of the ranges are indexes of their ids. */
export async function readRangesOf(query: ReadQuery, sectionIds: readonly string[]): Promise<ItemRanges> {
  const [row] = await query<ItemRanges>(
    `SELECT ${RANGE_COLUMNS} FROM (
       SELECT (wanted.n - 1)::int AS section, range.* FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, n)
         JOIN sections s ON s.id = wanted.id CROSS JOIN LATERAL ${rangesOf()} AS range
     ) AS range`,
    [sectionIds],
  );
  return row as ItemRanges;
}

const aggregated = (value: string): string => `coalesce(array_agg(${value} ORDER BY section, start), '{}')`;

/** The columns of {@link ItemRanges} of rows `(section, part_id, start, first, stop)`. */
const RANGE_COLUMNS = `${aggregated('section')} AS sections, ${aggregated('part_id::text')} AS "partIds",
  ${aggregated('start')} AS starts, ${aggregated('first')} AS firsts, ${aggregated('stop - start')} AS counts`;

/** The ranges of items from position `from` of a section up to, not including, position `to`. */
export function clipRanges(ranges: ItemRanges, section: number, from: number, to: number): ItemRanges {
  return cutRanges(ranges, (index) => {
    const start = ranges.starts[index] as number;
    const isWanted = ranges.sections[index] === section;
    return [Math.max(from - start, 0), isWanted ? Math.min(to - start, ranges.counts[index] as number) : 0];
  });
}

/** Items of each range. @param wanted the first item of a range, and the one after the last; relative to the range */
export function cutRanges(
  ranges: ItemRanges,
  wanted: (index: number) => readonly [from: number, to: number],
): ItemRanges {
  const sections: number[] = [];
  const partIds: string[] = [];
  const starts: number[] = [];
  const firsts: number[] = [];
  const counts: number[] = [];
  for (const [index, section] of ranges.sections.entries()) {
    const [from, to] = wanted(index);
    if (to <= from) continue;
    sections.push(section);
    partIds.push(ranges.partIds[index] as string);
    starts.push((ranges.starts[index] as number) + from);
    firsts.push((ranges.firsts[index] as number) + from);
    counts.push(to - from);
  }
  return { sections, partIds, starts, firsts, counts };
}

/** The ranges from one index up to, not including, another. */
export function sliceRanges(ranges: ItemRanges, from: number, to: number): ItemRanges {
  return {
    sections: ranges.sections.slice(from, to),
    partIds: ranges.partIds.slice(from, to),
    starts: ranges.starts.slice(from, to),
    firsts: ranges.firsts.slice(from, to),
    counts: ranges.counts.slice(from, to),
  };
}

/** Places values in the text of a statement, for a COPY, which takes no parameters: ids from the database, and integers. */
export const LITERALS: Pick<Parameters, 'add'> = {
  add: (values) => `'{${(values as readonly unknown[]).join(',')}}'`,
};

/**
 * A subquery for the items of ranges: the columns of `items`, their `section`, and their position `order_index` in it. Each
 * range is read by the primary key of `items`, one after the other: ORDER BY keeps the planner from another way, which would
 * compare each item with each range.
 *
 * @param condition on the row `i` of `items`, begins with AND
 */
export function itemsInRanges(ranges: ItemRanges, { add }: Pick<Parameters, 'add'>, condition = ''): string {
  const { sections, partIds, starts, firsts, counts } = ranges;
  const parts = add(partIds);
  const others = [sections, starts, firsts, counts].map((values) => `${add(values)}::int[]`);
  return `(SELECT range.section, read.* FROM unnest(${parts}::uuid[], ${others.join(', ')}) AS range (part_id, section, start, first, count)
    CROSS JOIN LATERAL (
      SELECT range.start + i.ordinal - range.first AS order_index, i.* FROM items i
      WHERE ${ofParts(parts)} AND i.part_id = range.part_id AND i.ordinal >= range.first
        AND i.ordinal < range.first + range.count ${condition}
      ORDER BY i.ordinal
    ) AS read)`;
}
