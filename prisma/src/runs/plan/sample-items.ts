import type { RunItem, RunSelection } from '@svc/evaluation';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { isUuid } from '../../database/values.ts';
import type { ItemPosition } from '../../items/item-places.ts';
import { planItems, readPlannedItems } from '../../items/read-item-texts.ts';
import { createReadQuery } from '../../postgres/read-query.ts';
import { readCandidatesAt } from '../read-items-at.ts';
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
  using _permit = await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const { sql } = await selectItems(query, { datasetId, version }, selection, parameters);
  const chosen = await query<ItemPosition>(
    `SELECT section AS "sectionOrderIndex", item AS "orderIndex" FROM (${sql}) AS chosen`,
    parameters.values,
  );
  const candidates = await readCandidatesAt(query, { datasetId, version }, chosen);
  const rows = await readPlannedItems(query, planItems(candidates, limits, 'link'));
  return rows.map((row) => ({ ...toRunItem(row, limits), doneRepetitions: [] }));
}
