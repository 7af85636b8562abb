import type { PlanCounts, RunSelection, ScoringFacts } from '@svc/evaluation';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { readFrom } from '../../database/read-query.ts';
import { isUuid } from '../../database/values.ts';
import { datasetNotFound } from '../../datasets/dataset-row.ts';
import { scoringOf } from './scorability-sql.ts';
import { selectItems } from './select-items.ts';

/** What a run would do. */
export interface PlanRequest {
  readonly datasetId: string;
  /** Null for all items. */
  readonly selection: RunSelection | null;
  readonly scoring: ScoringFacts;
  readonly signal?: AbortSignal | undefined;
}

/**
 * See `RunStore.plan`. The database reads the items, for as long as the caller waits; searches share a part of its
 * connections.
 */
export async function planRun(
  { pool, searches }: Pick<StoreContext, 'pool' | 'searches'>,
  { datasetId, selection, scoring, signal }: PlanRequest,
): Promise<PlanCounts> {
  if (!isUuid(datasetId)) throw datasetNotFound(datasetId);
  const { add, values } = new Parameters();
  add(datasetId);
  const from =
    selection === null
      ? 'sections s JOIN items i ON i.section_id = s.id WHERE s.dataset_id = $1'
      : `(${selectItems(selection, add)}) AS chosen
          JOIN sections s ON s.dataset_id = $1 AND s.order_index = chosen.section
          JOIN items i ON i.section_id = s.id AND i.order_index = chosen.item`;
  const items = `SELECT i.type, i.payload, i.answer, i.checker FROM ${from}`;
  using _permit = await searches.acquire(signal);
  const rows = await readFrom(
    pool,
    async (query) => {
      const [dataset] = await query('SELECT 1 FROM datasets WHERE id = $1', [datasetId]);
      if (dataset === undefined) throw datasetNotFound(datasetId);
      return await query<{ scoring: string; count: string }>(
        `SELECT scoring, count(*) FROM (${scoringOf(items, scoring, add)}) AS scored GROUP BY scoring ORDER BY scoring`,
        values,
      );
    },
    signal,
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0',
  );
  const counts = Object.fromEntries(rows.map((row) => [row.scoring, Number(row.count)]));
  const { scored = 0, judged = 0, ...unscorable } = counts;
  return { items: rows.reduce((sum, row) => sum + Number(row.count), 0), scored, judged, unscorable };
}
