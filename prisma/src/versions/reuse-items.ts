import { queryOf } from '@svc/postgres';
import type pg from 'pg';
import { withHashJoins } from '../database/hash-joins.ts';
import { itemsOf, ofVersion } from '../items/version-sql.ts';
import type { StagedItems } from './planned-section.ts';
import { type ItemRange, joinRanges } from './ranges.ts';
import type { VersionState } from './read-version.ts';

/**
 * The ranges of each of the staged parts, with items of a version in place of the staged ones that equal them: what is stored
 * is not stored again. Equal items are taken in their order, each once.
 */
export async function reuseItems(
  client: pg.ClientBase,
  { datasetId, version }: VersionState,
  staged: readonly StagedItems[],
): Promise<ItemRange[][]> {
  const query = queryOf(client);
  const partIds = staged.map(({ partId }) => partId);
  const rows = await withHashJoins(query, () => query<ReusedRange>(REUSED, [datasetId, version, partIds]));
  const bySection = Map.groupBy(rows, ({ section }) => section);
  return staged.map((items, index) => joinRanges(rangesWith(items, bySection.get(index) ?? [])));
}

function* rangesWith(
  { partId, itemCount }: StagedItems,
  reused: readonly ReusedRange[],
): Generator<ItemRange> {
  let at = 0;
  for (const { staged, count, part, first } of reused) {
    yield { partId, first: at, count: staged - at };
    yield { partId: part, first, count };
    at = staged + count;
  }
  yield { partId, first: at, count: itemCount - at };
}

interface ReusedRange {
  /** Index of the staged part. */
  readonly section: number;
  /** Ordinal of the first staged item. */
  readonly staged: number;
  readonly count: number;
  /** Where the first of the equal items is. */
  readonly part: string;
  readonly first: number;
}

/** $1 dataset, $2 version, $3 the staged parts. */
const REUSED = `WITH old AS (
    SELECT i.part_id, i.ordinal, i.item_hash,
      row_number() OVER (PARTITION BY i.item_hash ORDER BY s.order_index, i.order_index) AS occurrence
    FROM version_sections s CROSS JOIN LATERAL ${itemsOf()} i WHERE ${ofVersion('$1', '$2')}
  ), staged AS (
    SELECT part.n AS section, i.ordinal, i.item_hash,
      row_number() OVER (PARTITION BY i.item_hash ORDER BY part.n, i.ordinal) AS occurrence
    FROM unnest($3::uuid[]) WITH ORDINALITY AS part (id, n) JOIN items i ON i.part_id = part.id
  ), equal AS (
    SELECT staged.section, staged.ordinal AS staged, old.part_id, old.ordinal,
      staged.ordinal - row_number() OVER (
        PARTITION BY staged.section, old.part_id, old.ordinal - staged.ordinal ORDER BY staged.ordinal) AS island
    FROM staged JOIN old USING (item_hash, occurrence)
  )
  SELECT section::int - 1 AS section, min(staged) AS staged, count(*)::int AS count, part_id AS part, min(ordinal) AS first
  FROM equal GROUP BY section, part_id, ordinal - staged, island ORDER BY section, 2`;
