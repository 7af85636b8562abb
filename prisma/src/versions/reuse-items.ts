import type pg from 'pg';
import { Parameters } from '../database/page.ts';
import { itemsInRanges } from '../items/item-ranges.ts';
import { queryOf, withHashJoins } from '../postgres/read-query.ts';
import type { StagedItems } from './planned-section.ts';
import { type ItemRange, itemCountOf, joinRanges, rangeFinder, toSectionRanges } from './ranges.ts';
import type { VersionState } from './read-version.ts';

/**
 * The ranges of each of the staged sections, with items of a version in place of the staged ones that equal them: what is stored
 * is not stored again. Equal items are taken in their order, each once.
 */
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

/** @param old @param staged subqueries for the items of sections */
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
