import type { ReadQuery } from '../../postgres/read-query.ts';
import type { VersionOfRun } from '../read-items-at.ts';

/** Which results of a run a retry replaces: nothing else changes it while the run works. */
export interface Retry {
  /** How often the run was retried. */
  readonly retries: number;
  /** The kind of results; null before the first retry. */
  readonly only: string | null;
}

/** Which results a run does again, and the version that has its items; null for an unknown run. */
export async function readRetry(query: ReadQuery, runId: string): Promise<(Retry & VersionOfRun) | null> {
  const [run] = await query<Retry & VersionOfRun>(
    `SELECT dataset_id AS "datasetId", dataset_version AS version, retries, retry_only AS only FROM runs WHERE id = $1`,
    [runId],
  );
  return run ?? null;
}

/**
 * SQL for whether a retry replaces a result: an older one of the kind that it names.
 *
 * @param result the row of `run_results`
 * @param retry placeholders
 */
export function isToReplace(
  result: string,
  { retries, only }: Readonly<Record<keyof Retry, string>>,
): string {
  return `${result}.retries < ${retries}::int AND CASE ${only}::text WHEN 'truncated' THEN ${result}.truncated
    ELSE ${result}.status = ${only}::text END`;
}
