import type { RunItem } from '@svc/evaluation';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import type { StoreContext } from '../context.ts';
import { itemTooLarge } from '../database/values.ts';
import { type ItemPosition, ofVersion } from '../items/item-ranges.ts';
import {
  type ItemCandidate,
  type ItemLimits,
  planItems,
  readPlannedItems,
} from '../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { readCandidatesAt } from './read-items-at.ts';
import { isToReplace, type Retry, type Run, readRetry, versionOf } from './run-row.ts';

/** Positions of a section that one query looks at. */
const POSITIONS_PER_QUERY = 500;

/** Reads the items of a run that lack a result, or whose result is to be replaced, in order, a page at a time. */
export async function* readRunItems(
  { pool, ...limits }: StoreContext,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const version = versionOf(run);
  const retry = await readRetry(query, run.id);
  if (retry === null) return;
  const sections = await query<{ readonly orderIndex: number; readonly itemCount: number }>(SECTIONS, [
    version.datasetId,
    version.version,
  ]);
  for (const { orderIndex: section, itemCount } of sections) {
    for (let from = 0; from < itemCount; ) {
      signal.throwIfAborted();
      const to = Math.min(from + POSITIONS_PER_QUERY, itemCount);
      const { positions, done } = await findToDo(query, run, retry, { section, from, to });
      const candidates = await readCandidatesAt(query, version, positions);
      const plan = planItems(candidates, limits, 'embed');
      for (const row of await readPlannedItems(query, plan)) {
        signal.throwIfAborted();
        yield { ...toRunItem(row, limits), doneRepetitions: done.get(row.orderIndex) ?? [] };
      }
      from = candidates[plan.items.length]?.orderIndex ?? to;
    }
  }
}

/** Finds the positions of a part of a section whose items a run has to do, and which repetitions of them are done. */
async function findToDo(
  query: ReadQuery,
  { id, hasSelection, repetitions }: Run,
  { retries, only }: Retry,
  { section, from, to }: { readonly section: number; readonly from: number; readonly to: number },
): Promise<{
  readonly positions: readonly ItemPosition[];
  readonly done: ReadonlyMap<number, readonly number[]>;
}> {
  const range = [id, section, from, to];
  const chosen = hasSelection
    ? (await query<{ readonly orderIndex: number }>(CHOSEN, range)).map(({ orderIndex }) => orderIndex)
    : Array.from({ length: to - from }, (_, index) => from + index);
  if (chosen.length === 0) return { positions: [], done: new Map() };
  const rows = await query<{ readonly orderIndex: number; readonly repetitions: readonly number[] }>(DONE, [
    ...range,
    retries,
    only,
  ]);
  const done = new Map(rows.map((row) => [row.orderIndex, row.repetitions]));
  const positions = chosen
    .filter((orderIndex) => (done.get(orderIndex)?.length ?? 0) < repetitions)
    .map((orderIndex) => ({ sectionOrderIndex: section, orderIndex }));
  return { positions, done };
}

/** An item that was read for a worker, without its embedded files; with them it must not be too large. */
export function toRunItem(
  row: ItemCandidate & { readonly sectionOrderIndex: number; readonly isTruncated: boolean },
  { maxItemBytes, maxWholeBytes }: ItemLimits,
): Omit<RunItem, 'doneRepetitions'> {
  const { section, sectionOrderIndex, orderIndex, payload, answer, checker, assets, isTruncated } = row;
  const at = { section, sectionOrderIndex, orderIndex };
  if (payload === null || isTruncated) {
    const { message } = itemTooLarge('Item', row, payload === null ? maxItemBytes : maxWholeBytes);
    return { ...at, parts: null, failure: { code: 'item_too_large', message } };
  }
  const linkedFiles = readLinkedFiles(row.linkedFiles);
  return { ...at, parts: { payload, answer, checker, assets }, linkedFiles };
}

/** The sections of a version, $1 and $2. */
const SECTIONS = `SELECT s.order_index AS "orderIndex", s.item_count AS "itemCount"
  FROM version_sections s WHERE ${ofVersion('$1', '$2')} ORDER BY s.order_index`;

/** The positions of section $2 that run $1 selected, from position $3 up to, not including, position $4. */
const CHOSEN = `SELECT order_index AS "orderIndex" FROM run_items
  WHERE run_id = $1 AND section_order_index = $2 AND order_index >= $3 AND order_index < $4 ORDER BY order_index`;

/** Its repetitions of these that are done; $5 and $6 the retry. */
const DONE = `SELECT order_index AS "orderIndex", array_agg(repetition ORDER BY repetition) AS repetitions
  FROM run_results result WHERE run_id = $1 AND section_order_index = $2 AND order_index >= $3 AND order_index < $4
    AND NOT (${isToReplace('result', { retries: '$5', only: '$6' })}) GROUP BY order_index`;
