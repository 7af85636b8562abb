import { type ReadQuery, readFrom } from '@svc/postgres';
import type { StoreContext } from '../context.ts';
import { datasetNotFound, datasetsWith } from '../database/dataset-row.ts';
import { boundedName } from '../database/item-size.ts';
import { decodeCursor, encodeCursor, type PageRequest } from '../database/page.ts';
import { isUuid } from '../database/values.ts';
import { itemsOf, ofVersion } from '../items/version-sql.ts';

export type ItemChange = 'added' | 'removed' | 'moved';

export interface DiffRequest extends PageRequest {
  /** Only changes of this kind. */
  readonly change?: ItemChange | undefined;
}

/** The position of an item. */
export interface ItemPosition {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
}

export interface DiffEntry {
  readonly change: ItemChange;
  /** 32 bytes */
  readonly itemHash: Uint8Array;
  /** In the first dataset; null for an added item. */
  readonly from: ItemPosition | null;
  /** In the second dataset; null for a removed item. */
  readonly to: ItemPosition | null;
}

export interface DatasetDiff {
  /** Of the whole comparison, whatever `change` asks for. */
  readonly counts: Readonly<Record<ItemChange | 'unchanged', number>>;
  /** Added, then removed, then moved items, each in the order of their place in the second dataset (else the first). */
  readonly data: readonly DiffEntry[];
  readonly nextCursor: string | null;
  /** Entries that `change` lets through. */
  readonly totalItems: number;
}

const CHANGES: readonly ItemChange[] = ['added', 'removed', 'moved'];

/**
 * See `DatasetStore.diff`. Items with one hash are the same; those at the same place in a section of the same
 * name in both datasets are unchanged, the others pair up in order. What is left over is added or removed.
 */
export async function diffDatasets(
  { pool, searches }: Pick<StoreContext, 'pool' | 'searches'>,
  id: string,
  otherId: string,
  request: DiffRequest,
): Promise<DatasetDiff> {
  const { limit, cursor, change, signal } = request;
  const after =
    cursor === undefined ? [-1, -1, -1] : decodeCursor('diff', ['index', 'index', 'index'], cursor);
  for (const wanted of [id, otherId]) if (!isUuid(wanted)) throw datasetNotFound(wanted);

  using _permit = await searches.acquire(signal);
  const { first, rows } = await readFrom(
    pool,
    (query) => compare(query, id, otherId, change, after, limit),
    signal,
    // two hash joins over all item hashes: in memory rather than in files
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL work_mem = '64MB'",
  );
  const summary = rows[0];
  const counts = {
    added: Number(summary?.added ?? 0),
    removed: Number(summary?.removed ?? 0),
    moved: Number(summary?.moved ?? 0),
    unchanged: 0,
  };
  counts.unchanged = first.item_count - counts.removed - counts.moved;
  const entries = rows.filter((row) => row.kind !== null);
  const shown = entries.slice(0, limit);
  const last = shown.at(-1);
  return {
    counts,
    data: shown.map(toEntry),
    nextCursor:
      entries.length > limit && last !== undefined
        ? encodeCursor('diff', [Number(last.kind), last.at_section, last.at_item])
        : null,
    totalItems: change === undefined ? counts.added + counts.removed + counts.moved : counts[change],
  };
}

interface PresentDataset {
  readonly id: string;
  readonly item_count: number;
}

async function compare(
  query: ReadQuery,
  id: string,
  otherId: string,
  change: ItemChange | undefined,
  after: readonly number[],
  limit: number,
): Promise<{ readonly first: PresentDataset; readonly rows: readonly ChangeRow[] }> {
  const present = await query<PresentDataset>(
    `SELECT id, item_count FROM ${datasetsWith()} WHERE id = ANY($1::uuid[])`,
    [[id, otherId]],
  );
  const first = present.find((row) => row.id === id.toLowerCase());
  if (first === undefined) throw datasetNotFound(id);
  if (!present.some((row) => row.id === otherId.toLowerCase())) throw datasetNotFound(otherId);
  const wanted = change === undefined ? -1 : CHANGES.indexOf(change);
  return {
    first,
    rows: await query<ChangeRow>(DIFF, [id, otherId, wanted, ...after, limit + 1, null, null]),
  };
}

/** $1, $2 the datasets; $3 the kind asked for, or -1; $4 to $6 the place to go on behind; $7 the limit. */
const DIFF = `
WITH a AS (
  SELECT sha256(convert_to(s.name, 'UTF8')) AS name, s.order_index AS section, i.order_index AS item, i.item_hash AS hash
  FROM version_sections s CROSS JOIN LATERAL ${itemsOf()} i WHERE ${ofVersion('$1', '$8')}
), b AS (
  SELECT sha256(convert_to(s.name, 'UTF8')) AS name, s.order_index AS section, i.order_index AS item, i.item_hash AS hash
  FROM version_sections s CROSS JOIN LATERAL ${itemsOf()} i WHERE ${ofVersion('$2', '$9')}
), a_left AS (
  SELECT a.*, row_number() OVER (PARTITION BY hash ORDER BY section, item) AS occurrence FROM a
  WHERE NOT EXISTS (SELECT FROM b WHERE b.hash = a.hash AND b.item = a.item AND b.name = a.name)
), b_left AS (
  SELECT b.*, row_number() OVER (PARTITION BY hash ORDER BY section, item) AS occurrence FROM b
  WHERE NOT EXISTS (SELECT FROM a WHERE a.hash = b.hash AND a.item = b.item AND a.name = b.name)
), changes AS MATERIALIZED (
  SELECT CASE WHEN a.hash IS NULL THEN 0 WHEN b.hash IS NULL THEN 1 ELSE 2 END AS kind,
    coalesce(b.section, a.section) AS at_section, coalesce(b.item, a.item) AS at_item, coalesce(b.hash, a.hash) AS hash,
    a.section AS from_section, a.item AS from_item, b.section AS to_section, b.item AS to_item
  FROM a_left a FULL JOIN b_left b USING (hash, occurrence)
), summary AS (
  SELECT count(*) FILTER (WHERE kind = 0) AS added, count(*) FILTER (WHERE kind = 1) AS removed,
    count(*) FILTER (WHERE kind = 2) AS moved FROM changes
), page AS (
  SELECT * FROM changes
  WHERE ($3 = -1 OR kind = $3) AND (kind, at_section, at_item) > ($4::int, $5::int, $6::int)
  ORDER BY kind, at_section, at_item LIMIT $7
)
SELECT summary.*, page.*, ${boundedName('f.name')} AS from_name, ${boundedName('t.name')} AS to_name
FROM summary LEFT JOIN page ON true
  LEFT JOIN version_sections f ON ${ofVersion('$1', '$8', 'f')} AND f.order_index = page.from_section
  LEFT JOIN version_sections t ON ${ofVersion('$2', '$9', 't')} AND t.order_index = page.to_section
ORDER BY kind, at_section, at_item`;

interface ChangeRow {
  readonly added: string;
  readonly removed: string;
  readonly moved: string;
  /** Null where there is no entry at all. */
  readonly kind: number | null;
  readonly at_section: number;
  readonly at_item: number;
  readonly hash: Uint8Array;
  readonly from_name: string | null;
  readonly from_section: number;
  readonly from_item: number;
  readonly to_name: string | null;
  readonly to_section: number;
  readonly to_item: number;
}

function toEntry(row: ChangeRow): DiffEntry {
  const { from_name, from_section, from_item, to_name, to_section, to_item } = row;
  return {
    change: CHANGES[row.kind ?? 0] ?? 'added',
    itemHash: row.hash,
    from:
      from_name === null
        ? null
        : { section: from_name, sectionOrderIndex: from_section, orderIndex: from_item },
    to: to_name === null ? null : { section: to_name, sectionOrderIndex: to_section, orderIndex: to_item },
  };
}
