import type pg from 'pg';
import { askedText, seesJob, unchecked, writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { rowParts, uuidBytes } from '../database/copy-format.ts';
import { CopyIn } from '../database/copy-in.ts';
import { StoreError } from '../database/errors.ts';
import type { Page, PageRequest } from '../database/page.ts';
import {
  boundedText,
  isUuid,
  memberText,
  readableJson,
  shortened,
  storableText,
} from '../database/values.ts';
import { completeFor, type Idempotent } from '../idempotency/idempotency-store.ts';
import { inTransaction } from '../postgres/pool.ts';
import { cancelTask, failTask, listTasks, NOTIFY_WORKERS, type TaskClaim } from '../queue/task-queue.ts';

/** `import`: rows of a hub dataset; `upload`: an archive that was uploaded. Each is a task of the same kind. */
export type JobKind = 'import' | 'upload';
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelling' | 'cancelled';

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

/** The columns of a {@link Job}. */
const JOB_COLUMNS = `id, kind, status, dataset_id AS "datasetId", json_build_object('rowsDone', rows_done,
    'rowsTotal', rows_total, 'bytesDone', bytes_done, 'bytesTotal', bytes_total) AS progress,
  ${SUBJECT_SQL} AS subject,
  ${boundedText('error', MAX_ERROR_BYTES, `'{"code":"internal","message":"The error is too long to be shown."}'`)} AS error, notes,
  ${boundedText('request_id', 16_384)} AS "requestId",
  created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

function jobNotFound(id: string): StoreError {
  return new StoreError('job_not_found', `Job "${shortened(id)}" not found.`);
}

/** Ends a job with its dataset, in its transaction. @throws StoreError `superseded`, `job_finished` */
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

async function deleteArchive(client: pg.ClientBase, jobId: string): Promise<void> {
  await client.query('DELETE FROM job_chunks WHERE job_id = $1', [jobId]);
}

/** Why a worker may no longer change a job: `job_not_found`, `superseded` or `job_finished`. */
async function lostClaim(client: pg.ClientBase | pg.Pool, claim: TaskClaim): Promise<StoreError> {
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

export interface NewJob {
  /** UUID of the new job. */
  readonly id: string;
  readonly kind: JobKind;
  /** JSON text without any secret. */
  readonly request: string;
  /** The caller's hub token, encrypted with a key that is not in the database; kept until the job ends. */
  readonly sealedToken?: Uint8Array | undefined;
  readonly requestId: string | null;
  readonly createdBy?: string | null | undefined;
  readonly bytesTotal?: number | undefined;
  /** The archive of an `upload`, in chunks of about a megabyte; stored with the job. */
  readonly archive?: AsyncIterable<Uint8Array> | undefined;
}

/** A job in the hands of a worker. */
export type TakenJob = NonNullable<Awaited<ReturnType<typeof take>>>;

/** Asynchronous imports. Every method throws StoreError `unavailable` when the database cannot be reached. */
export type JobStore = ReturnType<typeof createJobStore>;

export const createJobStore = (context: StoreContext) =>
  unchecked(context, {
    ...{ create, list, getMany, take, readArchiveChunk, report, finish, requestCancel, fail },
    /** @throws StoreError `job_not_found` */
    get: ({ pool }, id: string) => readJob(pool, id),
  });

/** More than a request body may have: a safeguard, not the limit of requests. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/**
 * Stores a job (and its archive) and puts its task on the queue, in one transaction.
 *
 * @throws StoreError `invalid_request`; `superseded` when the idempotency key was taken over; what the archive throws
 */
async function create(
  { pool, imports }: StoreContext,
  job: NewJob,
  {
    signal,
    idempotent,
  }: { readonly signal?: AbortSignal | undefined; readonly idempotent?: Idempotent<Job> | undefined } = {},
): Promise<Job> {
  using _permit = job.archive === undefined ? undefined : await imports.acquire(signal);
  return await inTransaction(pool, async (client) => {
    const { rows } = await client.query<Job>(
      `INSERT INTO jobs (id, kind, request, sealed_token, request_id, bytes_total, created_by, asked, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp()) RETURNING ${JOB_COLUMNS}`,
      [
        job.id,
        job.kind,
        job.request,
        job.sealedToken ?? null,
        job.requestId === null ? null : storableText('request id', job.requestId),
        job.bytesTotal ?? null,
        job.createdBy ?? null,
        askedText('jobs'),
      ],
    );
    const created = rows[0] as Job;
    if (job.archive !== undefined) await writeArchive(client, job.id, job.archive, signal);
    await client.query(NOTIFY_WORKERS, [job.kind]);
    await completeFor(client, idempotent, created);
    return created;
  });
}

/** Those of these jobs that exist, in any order: one query. */
async function getMany({ pool }: StoreContext, ids: readonly string[]) {
  const { rows } = await pool.query<Job>(`SELECT ${JOB_COLUMNS} FROM jobs WHERE id = ANY($1::uuid[])`, [
    ids.filter(isUuid),
  ]);
  return rows;
}

/** Opens a claimed job; `cancelling` if that was requested. Null when it has ended, or another worker has it. */
async function take({ pool }: StoreContext, claim: TaskClaim) {
  const { rows } = await pool.query<Job & { request: string; sealed: Uint8Array | null }>(
    `SELECT ${JOB_COLUMNS}, ${boundedText('request', MAX_REQUEST_BYTES, `'{}'`)} AS request,
         ${boundedText('sealed_token', 65_536)} AS sealed
       FROM jobs WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
    [claim.id, claim.attempt],
  );
  if (rows[0] === undefined) return null;
  const { request, sealed: sealedToken, ...job } = rows[0];
  return { job, claim, request, sealedToken };
}

/**
 * Stores the progress of a job, which only grows: a worker that starts again, after another one died, changes nothing
 * until it is further. A job succeeds by `DatasetDraft.commit`.
 *
 * @throws StoreError `superseded` when another worker has claimed it, `job_finished` when it has ended
 */
async function report(
  { pool }: StoreContext,
  claim: TaskClaim,
  { rowsDone, rowsTotal, bytesDone, bytesTotal }: JobProgress,
) {
  const { rowCount } = await pool.query(
    `UPDATE jobs SET rows_done = greatest(rows_done, $3), rows_total = $4,
         bytes_done = greatest(bytes_done, $5), bytes_total = $6
       WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
    [claim.id, claim.attempt, rowsDone, rowsTotal, bytesDone, bytesTotal],
  );
  if (rowCount === 0) throw await lostClaim(pool, claim);
}

/** Ends a job without a dataset; its error is JSON text. @throws StoreError `superseded`, `job_finished` */
async function finish(
  { pool }: StoreContext,
  claim: TaskClaim,
  end: { readonly status: 'failed'; readonly error: string } | { readonly status: 'cancelled' },
): Promise<Job> {
  return await inTransaction(pool, async (client) => {
    const { rows } = await client.query<Job>(
      `UPDATE jobs SET status = $3, error = $4, finished_at = clock_timestamp(), sealed_token = NULL
         WHERE id = $1 AND attempt = $2 AND finished_at IS NULL RETURNING ${JOB_COLUMNS}`,
      [claim.id, claim.attempt, end.status, end.status === 'failed' ? end.error : null],
    );
    if (rows[0] === undefined) throw await lostClaim(client, claim);
    await deleteArchive(client, claim.id);
    return rows[0];
  });
}

/**
 * Requests the end of a job. One that no worker has claimed ends immediately; a running one becomes `cancelling`, and its
 * worker is notified. A second request, or one after the end, changes nothing.
 *
 * @throws StoreError `job_not_found`
 */
async function requestCancel({ pool }: StoreContext, id: string): Promise<Job> {
  return await inTransaction(pool, async (client) => {
    await readJob(client, id);
    const changed = await cancelTask<Job>(client, 'jobs', JOB_COLUMNS, id);
    if (changed?.isFirst === true) await writeAudit(client, 'job.cancel', { kind: 'job', id });
    if (changed?.row.finishedAt != null) await deleteArchive(client, id);
    return changed?.row ?? (await readJob(client, id));
  });
}

/** As `fail` of runs; the error is an error body as JSON text. */
async function fail({ pool }: StoreContext, id: string, error: string) {
  return await inTransaction(pool, async (client) => {
    const status = await failTask(client, 'jobs', id, error);
    if (status !== null) await deleteArchive(client, id);
    return status;
  });
}

async function readJob(client: pg.ClientBase | pg.Pool, id: string): Promise<Job> {
  const { rows } = isUuid(id)
    ? await client.query<Job>(`SELECT ${JOB_COLUMNS} FROM jobs WHERE id = $1 AND ${seesJob() ?? 'true'}`, [
        id,
      ])
    : { rows: [] };
  if (rows[0] === undefined) throw jobNotFound(id);
  return rows[0];
}

export interface JobsRequest extends PageRequest {
  readonly status?: JobStatus | undefined;
  readonly kind?: JobKind | undefined;
}

/** Newest first. @throws StoreError `invalid_cursor` */
async function list({ pool }: StoreContext, { status, kind, ...page }: JobsRequest): Promise<Page<Job>> {
  return await listTasks<Job>(pool, {
    ...{ ...page, table: 'jobs', columns: JOB_COLUMNS },
    ...{ equal: { status, kind }, texts: ['error'] },
  });
}

/** Archives are stored in chunks of about a megabyte. */
const MAX_CHUNK_BYTES = 64 * 1024 * 1024;

/** Stores the archive of a job. @throws what `archive` throws; the signal's reason; StoreError `unavailable` */
async function writeArchive(
  client: pg.ClientBase,
  jobId: string,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const copy = new CopyIn(client, 'COPY job_chunks FROM STDIN (FORMAT binary)', signal);
  await copy.writeAll(chunkRows(jobId, archive));
  await copy.end();
}

/** A chunk of the archive of an `upload` job, counted from 0; null after the last one, and when the job has ended. */
async function readArchiveChunk({ pool }: StoreContext, jobId: string, index: number) {
  const { rows } = await pool.query<{ bytes: Uint8Array | null }>(
    `SELECT ${boundedText('bytes', MAX_CHUNK_BYTES)} AS bytes FROM job_chunks WHERE job_id = $1 AND index = $2`,
    [jobId, index],
  );
  if (rows[0]?.bytes === null) {
    throw new Error(`Chunk ${index} of job ${jobId} must have at most ${MAX_CHUNK_BYTES} bytes.`);
  }
  return rows[0]?.bytes ?? null;
}

async function* chunkRows(id: string, archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const jobId = uuidBytes(id);
  let index = 0;
  for await (const bytes of archive) {
    yield* rowParts([jobId, index, bytes]);
    index += 1;
  }
}
