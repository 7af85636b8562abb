import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { boundedText, memberText, readableJson, shortened } from '../database/values.ts';
import type { TaskClaim } from '../queue/task-queue.ts';

/** `import`: rows of a hub dataset; `upload`: an archive that was uploaded. Each is a task of the same kind. */
export type JobKind = 'import' | 'upload';
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelling' | 'cancelled';

/** An asynchronous import as callers see it. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly progress: JobProgress;
  /** What was asked, as JSON text of an object with the members of {@link SUBJECT}; null for a very long request. */
  readonly subject: string | null;
  /** The dataset of a job that succeeded; null otherwise, and when that was deleted. */
  readonly datasetId: string | null;
  /** Error body as JSON text. */
  readonly error: string | null;
  /** What the import of a job that succeeded says besides its dataset: JSON text of an object; null if nothing. */
  readonly notes: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface JobProgress {
  readonly rowsDone: number;
  /** Null while unknown. */
  readonly rowsTotal: number | null;
  readonly bytesDone: number;
  readonly bytesTotal: number | null;
}

/** More than a hundred locations of errors with their messages need. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** A longer request is not read for lists. */
const MAX_SUBJECT_BYTES = 128 * 1024;

/** What people know a job by: where its rows come from, the name of a new dataset, or the dataset that it changes. */
const SUBJECT = {
  name: "r ->> 'name'",
  path: "r #>> '{config,path}'",
  subset: "r #>> '{config,subset}'",
  split: "r #>> '{config,split}'",
  revision: "r #>> '{config,revision}'",
  file_name: "coalesce(r ->> 'file_name', r #>> '{files,0,name}')",
  file_count: "CASE json_typeof(r -> 'files') WHEN 'array' THEN json_array_length(r -> 'files') END",
  dataset_id: "r #>> '{target,dataset_id}'",
} as const;

const SUBJECT_SQL = `CASE WHEN octet_length(request) <= ${MAX_SUBJECT_BYTES} THEN (
    SELECT ${memberText(
      `json_build_object(${Object.entries(SUBJECT)
        .map(([name, sql]) => `'${name}', ${sql}`)
        .join(', ')})`,
    )}
    FROM (SELECT ${readableJson('request::json')} AS r) AS asked
  ) END`;

/** The columns of a job under the names of {@link JobRow}. */
export const JOB_COLUMNS: string = `id, kind, status, rows_done::float8 AS "rowsDone", rows_total::float8 AS "rowsTotal",
  bytes_done::float8 AS "bytesDone", bytes_total::float8 AS "bytesTotal", dataset_id AS "datasetId",
  ${SUBJECT_SQL} AS subject,
  ${boundedText('error', MAX_ERROR_BYTES, `'{"code":"internal","message":"The error is too long to be shown."}'`)} AS error, notes,
  ${boundedText('request_id', 16_384)} AS "requestId",
  created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

export interface JobRow extends Omit<Job, 'progress'>, JobProgress {}

export function toJob({ rowsDone, rowsTotal, bytesDone, bytesTotal, ...job }: JobRow): Job {
  return { ...job, progress: { rowsDone, rowsTotal, bytesDone, bytesTotal } };
}

export function jobNotFound(id: string): StoreError {
  return new StoreError('job_not_found', `Job "${shortened(id)}" not found.`);
}

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
