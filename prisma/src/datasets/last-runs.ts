import type { ReadQuery } from '@svc/postgres';
import { PASS_RATE } from '../runs/run-row.ts';

/** The newest run of a dataset that has ended and has a score. */
export interface LastRun {
  readonly id: string;
  /** The mean. */
  readonly score: number;
  /** As in the run itself. */
  readonly passRate: number | null;
  readonly finishedAt: Date;
}

interface LastRunRow extends LastRun {
  readonly datasetId: string;
}

/** Reads the index on `(dataset_id, created_at, id)`, of each dataset down to the first run with a score. */
const LAST_RUNS = `
  SELECT shown.id AS "datasetId", last.* FROM unnest($1::uuid[]) AS shown (id) CROSS JOIN LATERAL (
    SELECT id, score_sum / scored AS score, ${PASS_RATE} AS "passRate", finished_at AS "finishedAt"
    FROM runs WHERE dataset_id = shown.id AND finished_at IS NOT NULL AND scored > 0 AND NOT is_trial
    ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS last`;

/** The last runs of datasets, by the id of the dataset. */
export async function lastRuns(
  query: ReadQuery,
  datasetIds: readonly string[],
): Promise<ReadonlyMap<string, LastRun>> {
  if (datasetIds.length === 0) return new Map();
  const rows = await query<LastRunRow>(LAST_RUNS, [datasetIds]);
  return new Map(
    rows.map(({ datasetId, id, score, passRate, finishedAt }) => [
      datasetId,
      { id, score, passRate, finishedAt },
    ]),
  );
}
