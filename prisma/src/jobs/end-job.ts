import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import { jobNotFound } from './job-row.ts';

/**
 * Ends a job with its dataset, in the transaction that stores the dataset.
 *
 * @throws StoreError `superseded`, `job_finished`: the dataset must not be stored then
 */
export async function completeJob(
  client: pg.ClientBase,
  claim: TaskClaim & { readonly notes?: string | undefined },
  datasetId: string,
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE jobs SET status = 'succeeded', dataset_id = $3, notes = $4, finished_at = clock_timestamp(), sealed_token = NULL,
       rows_total = coalesce(rows_total, rows_done), bytes_done = coalesce(bytes_total, bytes_done),
       bytes_total = coalesce(bytes_total, bytes_done)
     WHERE id = $1 AND attempt = $2 AND finished_at IS NULL AND cancel_requested_at IS NULL`,
    [claim.id, claim.attempt, datasetId, claim.notes ?? null],
  );
  if (rowCount === 0) throw await lostClaim(client, claim);
  await deleteArchive(client, claim.id);
}

/** Deletes the archive of a job that has ended. */
export async function deleteArchive(client: pg.ClientBase, jobId: string): Promise<void> {
  await client.query('DELETE FROM job_chunks WHERE job_id = $1', [jobId]);
}

/** Why a worker may no longer change a job: `job_not_found`, `superseded` or `job_finished`. */
export async function lostClaim(client: pg.ClientBase | pg.Pool, claim: TaskClaim): Promise<StoreError> {
  const { rows } = await client.query<{ attempt: number; status: string }>(
    'SELECT attempt, status FROM jobs WHERE id = $1',
    [claim.id],
  );
  const row = rows[0];
  if (row === undefined) return jobNotFound(claim.id);
  if (row.attempt !== claim.attempt) {
    return new StoreError('superseded', 'Another worker has claimed the job.');
  }
  const how = row.status === 'cancelling' ? 'is being cancelled' : `has already ended: it is ${row.status}`;
  return new StoreError('job_finished', `The job ${how}.`);
}
