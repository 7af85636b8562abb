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
    `SELECT coalesce(array_agg(section ORDER BY section, start), '{}') AS sections,
       coalesce(array_agg(part_id ORDER BY section, start)::text[], '{}') AS "partIds",
       coalesce(array_agg(start ORDER BY section, start), '{}') AS starts,
       coalesce(array_agg(first ORDER BY section, start), '{}') AS firsts,
       coalesce(array_agg(stop - start ORDER BY section, start), '{}') AS counts
     FROM (
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

/** The ranges of items from position `from` of a section up to, not including, position `to`. */
export function clipRanges(ranges: ItemRanges, section: number, from: number, to: number): ItemRanges {
  const sections: number[] = [];
  const partIds: string[] = [];
  const starts: number[] = [];
  const firsts: number[] = [];
  const counts: number[] = [];
  for (const [index, start] of ranges.starts.entries()) {
    const skipped = Math.max(from - start, 0);
    const count = Math.min(to - start, ranges.counts[index] as number) - skipped;
    if (ranges.sections[index] !== section || count <= 0) continue;
    sections.push(section);
    partIds.push(ranges.partIds[index] as string);
    starts.push(start + skipped);
    firsts.push((ranges.firsts[index] as number) + skipped);
    counts.push(count);
  }
  return { sections, partIds, starts, firsts, counts };
}

/**
 * A subquery for the items of ranges: the columns of `items`, their `section`, and their position `order_index` in it. Each
 * range is read by the primary key of `items`, one after the other: ORDER BY keeps the planner from another way, which would
 * compare each item with each range.
 *
 * @param condition on the row `i` of `items`, begins with AND
 */
export function itemsInRanges(ranges: ItemRanges, { add }: Parameters, condition = ''): string {
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
