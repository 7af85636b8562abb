import type pg from 'pg';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { holdPage } from '../../database/page.ts';
import { searchableText } from '../../database/values.ts';
import { type ItemPosition, ofRun } from '../../items/item-ranges.ts';
import { type ListedItem, toListedItem } from '../../items/list-items.ts';
import { planItems, readPlannedItems, type SizedItem } from '../../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { keyOf, readCandidatesAt } from '../read-items-at.ts';
import { readItemsAt } from '../read-run-items.ts';
import { readRun, type VersionOfRun, versionOf } from '../run-row.ts';

export type ResultItem = ListedItem & Pick<SizedItem, 'itemId'>;

/** Reads the items of results: of as many results as fit into a page, and one at least. */
export async function itemsOfResults<T extends ItemPosition>(
  query: ReadQuery,
  { largePages, ...limits }: StoreContext,
  version: VersionOfRun,
  results: readonly T[],
  signal: AbortSignal | undefined,
) {
  const candidates = await readCandidatesAt(query, version, results);
  const plan = planItems(candidates, limits, 'link');
  return await holdPage(largePages, plan.unreadBytes, signal, async () => {
    const read = await readPlannedItems(query, plan);
    const items = new Map(
      read.map((item) => [keyOf(item), { ...toListedItem(item), itemId: item.itemId }] as const),
    );
    const left = new Set(candidates.slice(plan.items.length).map(keyOf));
    const end = results.findIndex((result) => left.has(keyOf(result)));
    const shown = end === -1 ? results : results.slice(0, end);
    return { results: shown.map((result) => ({ ...result, item: items.get(keyOf(result)) ?? null })) };
  });
}

const POSITION = `result.section_order_index AS "sectionOrderIndex", result.order_index AS "orderIndex"`;

/**
 * The item of a result, as a worker reads it: without the content of its files.
 *
 * @returns null if the run has no such result
 * @throws StoreError `run_not_found`, `item_too_large`
 */
export async function readItemOfResult(
  { pool, ...limits }: StoreContext,
  id: string,
  name: ResultName,
  signal?: AbortSignal,
) {
  const query = createReadQuery(pool, signal);
  const run = await readRun(query, id);
  const position = await findResult<ItemPosition>(query, id, name, POSITION);
  if (position === undefined) return null;
  const [found] = await readItemsAt(query, limits, versionOf(run), [position]);
  const item = found?.item ?? null;
  if (item === null) return null;
  if (item.parts === null) {
    throw new StoreError('item_too_large', item.failure?.message ?? 'The item is too large.');
  }
  return { run, parts: item.parts, linkedFiles: item.linkedFiles ?? [] };
}

export interface ResultName {
  readonly section: string;
  readonly orderIndex: number;
  readonly repetition: number;
}

/** Reads some columns of a result; undefined if the run has no such result. @param columns SQL about `run_results result` */
export async function findResult<Row extends pg.QueryResultRow>(
  query: ReadQuery,
  runId: string,
  { section, orderIndex, repetition }: ResultName,
  columns: string,
): Promise<Row | undefined> {
  const [row] = await query<Row>(
    `SELECT ${columns}
     FROM runs run JOIN version_sections s ON ${ofRun('run')} AND s.name = $2
       JOIN run_results result ON result.run_id = run.id AND result.section_order_index = s.order_index
         AND result.order_index = $3::int AND result.repetition = $4::int
     WHERE run.id = $1 ORDER BY s.order_index LIMIT 1`,
    [runId, searchableText(section), orderIndex, repetition],
  );
  return row;
}
