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
import { itemsBetween, ofRun } from '../items/version-sql.ts';
import { isToReplace } from './insert-results.ts';
import type { Run } from './run-row.ts';

/** Positions of a section that one query looks at. */
const POSITIONS_PER_QUERY = 500;

/** Reads the items of a run that lack a result, or whose result is to be replaced, in order, a page at a time. */
export async function* readRunItems(
  { pool, ...limits }: Pick<StoreContext, 'pool' | 'maxItemBytes' | 'maxWholeBytes'>,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  const sql = itemsToDo(run.hasSelection);
  const sections = await query<{ readonly orderIndex: number; readonly itemCount: number }>(SECTIONS, [
    run.id,
  ]);
  for (const { orderIndex, itemCount } of sections) {
    for (let from = 0; from < itemCount; ) {
      signal.throwIfAborted();
      const to = Math.min(from + POSITIONS_PER_QUERY, itemCount);
      const candidates = await query<RunItemRow>(sql, [run.id, run.repetitions, orderIndex, from, to]);
      const plan = planItems(candidates, limits, 'embed');
      for (const row of await readPlannedItems(query, plan)) {
        signal.throwIfAborted();
        yield { ...toRunItem(row, limits), doneRepetitions: row.doneRepetitions ?? [] };
      }
      from = candidates[plan.items.length]?.orderIndex ?? to;
    }
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

/** The sections of run $1. */
const SECTIONS = `SELECT s.order_index AS "orderIndex", s.item_count AS "itemCount"
  FROM runs run JOIN version_sections s ON ${ofRun('run')} WHERE run.id = $1 ORDER BY s.order_index`;

/** The items to do of run $1, with $2 repetitions, in section $3 from position $4 up to, not including, position $5. */
function itemsToDo(hasSelection: boolean): string {
  const chosen = hasSelection
    ? 'JOIN run_items chosen ON chosen.run_id = $1 AND chosen.section_order_index = $3 AND chosen.order_index = i.order_index'
    : '';
  return `${itemCandidates(
    `SELECT i.part_id AS "partId", i.ordinal, ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
       i.order_index AS "orderIndex", i.byte_length, i.payload, i.answer, i.checker, i.assets, i.linked_files, i.linked_bytes,
       done."doneRepetitions"
     FROM runs run JOIN version_sections s ON ${ofRun('run')} AND s.order_index = $3
       CROSS JOIN LATERAL ${itemsBetween('$4::int', '$5::int')} i ${chosen}
       CROSS JOIN LATERAL (
         SELECT array_agg(r.repetition ORDER BY r.repetition) AS "doneRepetitions" FROM run_results r
         WHERE r.run_id = $1 AND r.section_order_index = $3 AND r.order_index = i.order_index AND NOT (${isToReplace('r', 'run')})
       ) done
     WHERE run.id = $1 AND coalesce(cardinality(done."doneRepetitions"), 0) < $2::int`,
    '"doneRepetitions"',
  )} ORDER BY "sectionOrderIndex", "orderIndex"`;
}
