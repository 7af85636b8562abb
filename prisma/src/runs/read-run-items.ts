import type { RunItem } from '@svc/evaluation';
import { createReadQuery } from '@svc/postgres';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import type { StoreContext } from '../context.ts';
import { boundedName, itemTooLarge } from '../database/item-size.ts';
import {
  type ItemCandidate,
  type ItemLimits,
  itemCandidates,
  planItems,
  readPlannedItems,
} from '../items/read-item-texts.ts';
import { isToReplace } from './insert-results.ts';
import type { Run } from './run-row.ts';

/** Maximum items of one query. */
const PAGE_ITEMS = 100;

/** Reads the items of a run that lack a result, or whose result is to be replaced, in order, a page at a time. */
export async function* readRunItems(
  { pool, ...limits }: Pick<StoreContext, 'pool' | 'maxItemBytes' | 'maxWholeBytes'>,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const sql = itemsToDo(run.hasSelection);
  let after: readonly [number, number] = [-1, -1];
  for (;;) {
    signal.throwIfAborted();
    const candidates = await query<RunItemRow>(sql, [
      run.datasetId,
      run.id,
      run.repetitions,
      ...after,
      PAGE_ITEMS,
    ]);
    const plan = planItems(candidates, limits, 'embed');
    const last = plan.items.at(-1)?.item;
    if (last === undefined) return;
    for (const row of await readPlannedItems(query, plan)) {
      signal.throwIfAborted();
      yield { ...toRunItem(row, limits), doneRepetitions: row.doneRepetitions ?? [] };
    }
    after = [last.sectionOrderIndex, last.orderIndex];
  }
}

/** An item that was read, for a worker: without the files that it embeds, with which it must not be too large. */
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

interface RunItemRow extends ItemCandidate {
  readonly sectionOrderIndex: number;
  readonly doneRepetitions: number[] | null;
}

/**
 * The next items to do: $1 dataset, $2 run, $3 repetitions, $4 section and $5 item to continue after, $6 limit. Each
 * section reads the primary keys of `items` (or `run_items`) and `run_results` in order, and stops at the limit.
 */
function itemsToDo(hasSelection: boolean): string {
  const items = hasSelection
    ? `run_items chosen JOIN items ON items.section_id = s.id AND items.order_index = chosen.order_index
         AND chosen.run_id = $2 AND chosen.section_order_index = s.order_index`
    : 'items';
  const position = hasSelection ? 'chosen.order_index' : 'items.order_index';
  return `${itemCandidates(
    `SELECT s.id AS "sectionId", ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
     i.order_index AS "orderIndex", i.byte_length, i.payload, i.answer, i.checker, i.assets, i.linked_files,
     i.linked_bytes, i."doneRepetitions"
   FROM runs run CROSS JOIN sections s CROSS JOIN LATERAL (
     SELECT items.*, done."doneRepetitions" FROM ${items} CROSS JOIN LATERAL (
       SELECT array_agg(r.repetition ORDER BY r.repetition) AS "doneRepetitions" FROM run_results r
       WHERE r.run_id = $2 AND r.section_order_index = s.order_index AND r.order_index = items.order_index
         AND NOT (${isToReplace('r', 'run')})
     ) done
     WHERE items.section_id = s.id
       AND ${position} > CASE WHEN s.order_index = $4::int THEN $5::int ELSE -1 END
       AND coalesce(cardinality(done."doneRepetitions"), 0) < $3::int
     ORDER BY ${position} LIMIT $6
   ) i
   WHERE run.id = $2 AND s.dataset_id = $1 AND s.order_index >= $4::int
   ORDER BY s.order_index, i.order_index LIMIT $6`,
    '"doneRepetitions"',
  )} ORDER BY "sectionOrderIndex", "orderIndex"`;
}
