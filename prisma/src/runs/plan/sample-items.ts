import type { RunItem, RunSelection } from '@svc/evaluation';
import { createReadQuery } from '@svc/postgres';
import type { StoreContext } from '../../context.ts';
import { boundedName } from '../../database/item-size.ts';
import { Parameters } from '../../database/page.ts';
import { isUuid } from '../../database/values.ts';
import {
  type ItemCandidate,
  itemCandidates,
  planItems,
  readPlannedItems,
} from '../../items/read-item-texts.ts';
import { isItemAt, ofVersion } from '../../items/version-sql.ts';
import { toRunItem } from '../read-run-items.ts';
import { selectItems } from './select-items.ts';

/** Some of the items that a run would have. */
export interface SampleRequest {
  readonly datasetId: string;
  /** Number of the version. */
  readonly version: number;
  /** With a sample. */
  readonly selection: RunSelection;
  readonly signal: AbortSignal;
}

/** See `RunStore.sample`. As many as fit into a page. */
export async function sampleItems(
  { pool, searches, ...limits }: Pick<StoreContext, 'pool' | 'searches' | 'maxItemBytes' | 'maxWholeBytes'>,
  { datasetId, version, selection, signal }: SampleRequest,
): Promise<RunItem[]> {
  if (!isUuid(datasetId)) return [];
  const { add, values } = new Parameters();
  add(datasetId);
  add(version);
  const chosen = selectItems(selection, add);
  using _permit = await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const candidates = await query<ItemCandidate & { readonly sectionOrderIndex: number }>(
    `${itemCandidates(
      `SELECT i.part_id AS "partId", i.ordinal, ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
         chosen.item AS "orderIndex", i.byte_length, i.payload, i.answer, i.checker, i.assets, i.linked_files, i.linked_bytes, 1 AS one
       FROM (${chosen}) AS chosen
         JOIN version_sections s ON ${ofVersion('$1', '$2')} AND s.order_index = chosen.section
         JOIN items i ON ${isItemAt('chosen.item')}`,
      'one',
    )} ORDER BY "sectionOrderIndex", "orderIndex"`,
    values,
  );
  const rows = await readPlannedItems(query, planItems(candidates, limits, 'link'));
  return rows.map((row) => ({ ...toRunItem(row, limits), doneRepetitions: [] }));
}
