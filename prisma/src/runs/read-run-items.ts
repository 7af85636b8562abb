import type { RunItem } from '@svc/evaluation';
import { embedParts } from '../assets/item-text.ts';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import type { StoreContext } from '../context.ts';
import { boundedName, itemTooLarge } from '../database/item-size.ts';
import {
  type ItemCandidate,
  itemCandidates,
  planItems,
  readPlannedItems,
} from '../database/read-item-texts.ts';
import { createReadQuery } from '../database/read-query.ts';
import type { Run } from './run-row.ts';

/** Maximum items of one query. */
const PAGE_ITEMS = 100;

/** Reads the items of a run that lack a result, in order, a page at a time. */
export async function* readRunItems(
  { pool, assets: store, maxItemBytes }: Pick<StoreContext, 'pool' | 'assets' | 'maxItemBytes'>,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<RunItem, void, undefined> {
  const query = createReadQuery(pool, signal);
  let after: readonly [number, number] = [-1, -1];
  for (;;) {
    signal.throwIfAborted();
    const candidates = await query<RunItemRow>(ITEMS_TO_DO, [
      run.datasetId,
      run.id,
      run.repetitions,
      ...after,
      PAGE_ITEMS,
    ]);
    const plan = await planItems(query, candidates, maxItemBytes);
    const last = plan.items.at(-1)?.item;
    if (last === undefined) return;
    for (const row of await readPlannedItems(query, plan)) {
      signal.throwIfAborted();
      const { section, sectionOrderIndex, orderIndex, payload } = row;
      yield {
        section,
        sectionOrderIndex,
        orderIndex,
        doneRepetitions: row.doneRepetitions ?? [],
        parts:
          payload === null
            ? null
            : await embedParts(
                { assets: store, query },
                { ...row, payload, linkedFiles: readLinkedFiles(row.linkedFiles) },
                signal,
              ),
        failure:
          payload === null
            ? { code: 'item_too_large', message: itemTooLarge('Item', row, maxItemBytes).message }
            : undefined,
      };
    }
    after = [last.sectionOrderIndex, last.orderIndex];
  }
}

interface RunItemRow extends ItemCandidate {
  readonly sectionOrderIndex: number;
  readonly doneRepetitions: number[] | null;
}

/**
 * The next items that lack a result: $1 dataset, $2 run, $3 repetitions, $4 section and $5 item to continue after, $6 limit.
 * Each section reads the primary keys of `items` and `run_results` in order, and stops at the limit.
 */
const ITEMS_TO_DO = `${itemCandidates(
  `SELECT s.id AS "sectionId", ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
     i.order_index AS "orderIndex", i.payload, i.answer, i.checker, i.assets, i.linked_files,
     i.linked_bytes, i."doneRepetitions"
   FROM sections s CROSS JOIN LATERAL (
     SELECT items.*, done."doneRepetitions" FROM items CROSS JOIN LATERAL (
       SELECT array_agg(r.repetition ORDER BY r.repetition) AS "doneRepetitions" FROM run_results r
       WHERE r.run_id = $2 AND r.section_order_index = s.order_index AND r.order_index = items.order_index
     ) done
     WHERE items.section_id = s.id
       AND items.order_index > CASE WHEN s.order_index = $4::int THEN $5::int ELSE -1 END
       AND coalesce(cardinality(done."doneRepetitions"), 0) < $3::int
     ORDER BY items.order_index LIMIT $6
   ) i
   WHERE s.dataset_id = $1 AND s.order_index >= $4::int
   ORDER BY s.order_index, i.order_index LIMIT $6`,
  '"doneRepetitions"',
)} ORDER BY "sectionOrderIndex", "orderIndex"`;
