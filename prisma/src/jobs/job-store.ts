import type pg from 'pg';
import type { StoreContext } from '../context.ts';
import { CopyIn } from '../copy/copy-in.ts';
import { StoreError } from '../database/errors.ts';
import { guarded } from '../database/guarded.ts';
import { boundedText } from '../database/item-size.ts';
import { inTransaction } from '../database/transaction.ts';
import { isUuid, storableText } from '../database/values.ts';
import {
  completeClaim,
  type IdempotencyClaim,
  type StoredResponse,
} from '../idempotency/idempotency-store.ts';
import { NOTIFY_WORKERS, type TaskClaim } from '../queue/task-queue.ts';

/** `import`: rows of a hub dataset; `upload`: an archive that was uploaded. Each has a queue of its name. */
export type JobKind = 'import' | 'upload';
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelling' | 'cancelled';

/** An asynchronous import as callers see it. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly progress: JobProgress;
  /** The dataset it made; null until it has, and when that was deleted. */
  readonly datasetId: string | null;
  /** Error body as JSON text. */
  readonly error: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface JobProgress {
  readonly rowsDone: number;
  /** Null while it is not known. */
  readonly rowsTotal: number | null;
  readonly bytesDone: number;
  readonly bytesTotal: number | null;
}

export interface NewJob {
  /** Uuid of the job to be. */
  readonly id: string;
  readonly kind: JobKind;
  /** What was asked, JSON text without any secret. */
  readonly request: string;
  /** The caller's hub token, sealed with a key that is not in the database; kept until the job ends. */
  readonly sealedToken?: Uint8Array | undefined;
  readonly requestId: string | null;
  readonly bytesTotal?: number | undefined;
  /** The archive of an `upload`, in chunks of a megabyte or so; stored with the job. */
  readonly archive?: AsyncIterable<Uint8Array> | undefined;
}

/** Which worker holds a job. */
export type JobClaim = TaskClaim;

/** A job in the hands of a worker. */
export interface TakenJob {
  /** As it was when it was taken; `status` is `cancelling` when a cancel came before. */
  readonly job: Job;
  readonly claim: JobClaim;
  readonly request: string;
  readonly sealedToken: Uint8Array | null;
}

/** Asynchronous imports. Every method throws StoreError `unavailable` when the database cannot be reached. */
export interface JobStore {
  /**
   * Stores a job (and its archive) and puts its task on the queue, in one transaction.
   *
   * @throws StoreError `invalid_request`; `superseded` when the idempotency key was taken over; what the archive throws
   */
  create(
    job: NewJob,
    options?: {
      readonly signal?: AbortSignal;
      readonly idempotency?: {
        readonly claim: IdempotencyClaim;
        readonly answer: (job: Job) => StoredResponse;
      };
    },
  ): Promise<Job>;
  /** @throws StoreError `job_not_found` */
  get(id: string): Promise<Job>;
  /** Those of these jobs that are there, in any order: one query. */
  getMany(ids: readonly string[]): Promise<Job[]>;
  /** Opens a job that a worker has claimed. Null when it has ended, or another worker has claimed it. */
  take(claim: JobClaim): Promise<TakenJob | null>;
  /** The archive of an `upload` job, in chunks. */
  readArchive(id: string): AsyncGenerator<Uint8Array, void, undefined>;
  /** One chunk of it, counted from 0; null behind the last one, and when the job has ended. */
  readArchiveChunk(id: string, index: number): Promise<Uint8Array | null>;
  /**
   * Stores how far a job is. What is done only grows: a worker that begins again, after another one died, says
   * nothing new until it is further. A job succeeds by `DatasetDraft.completeJob`.
   *
   * @throws StoreError `superseded` when another worker has it, `job_finished` when it has ended
   */
  report(claim: JobClaim, progress: JobProgress): Promise<void>;
  /**
   * Ends a job without a dataset.
   *
   * @param error error body as JSON text, for `failed`
   * @throws StoreError `superseded`, `job_finished`
   */
  finish(
    claim: JobClaim,
    end: { readonly status: 'failed'; readonly error: string } | { readonly status: 'cancelled' },
  ): Promise<Job>;
  /**
   * Asks for a job to end. One that no worker has taken ends at once; a running one becomes `cancelling`, and its
   * worker is woken. Asking again, or when it has ended, changes nothing.
   *
   * @throws StoreError `job_not_found`
   */
  requestCancel(id: string): Promise<Job>;
  /** As `RunStore.fail`; the error is an error body as JSON text. */
  fail(id: string, error: string): Promise<'failed' | 'cancelled' | null>;
}

/** Chunks are made of a megabyte or so. */
const MAX_CHUNK_BYTES = 64 * 1024 * 1024;
/** A hundred places of errors with their messages have less. */
const MAX_ERROR_BYTES = 1024 * 1024;
/** A request body has a megabyte, or what an operator allows: this is no limit of requests. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

const COLUMNS = `id, kind, status, rows_done AS "rowsDone", rows_total AS "rowsTotal", bytes_done AS "bytesDone",
  bytes_total AS "bytesTotal", dataset_id AS "datasetId",
  ${boundedText('error', MAX_ERROR_BYTES, `'{"code":"internal","message":"The error is too long to be shown."}'`)} AS error,
  ${boundedText('request_id', 16_384)} AS "requestId",
  created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

/** Columns that every end of a job sets. */
const ENDED = 'finished_at = clock_timestamp(), sealed_token = NULL';

export function createJobStore({ pool, imports }: StoreContext): JobStore {
  const readArchiveChunk = async (id: string, index: number): Promise<Uint8Array | null> => {
    const { rows } = await pool.query<{ bytes: Uint8Array | null }>(
      `SELECT ${boundedText('bytes', MAX_CHUNK_BYTES)} AS bytes FROM job_chunks WHERE job_id = $1 AND index = $2`,
      [id, index],
    );
    if (rows[0]?.bytes === null) throw new Error(`chunk ${index} of job ${id} is larger than a chunk may be`);
    return rows[0]?.bytes ?? null;
  };
  const ended = async (client: pg.ClientBase, id: string): Promise<void> => {
    await client.query('DELETE FROM job_chunks WHERE job_id = $1', [id]);
  };

  return {
    ...guarded({
      readArchiveChunk,
      create: async (job, options = {}) => {
        using _permit = job.archive === undefined ? undefined : await imports.acquire(options.signal);
        return await inTransaction(pool, async (client) => {
          const { rows } = await client.query<JobRow>(
            `INSERT INTO jobs (id, kind, request, sealed_token, request_id, bytes_total, created_at)
               VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp()) RETURNING ${COLUMNS}`,
            [
              job.id,
              job.kind,
              job.request,
              job.sealedToken ?? null,
              job.requestId === null ? null : storableText('request id', job.requestId),
              job.bytesTotal ?? null,
            ],
          );
          const created = toJob(rows[0] as JobRow);
          if (job.archive !== undefined) {
            const chunks = chunkRows(job.id, job.archive);
            const copy = new CopyIn(client, 'COPY job_chunks FROM STDIN (FORMAT binary)', options.signal);
            await copy.write(chunks);
            await copy.end();
          }
          await client.query(NOTIFY_WORKERS, [job.kind]);
          if (options.idempotency !== undefined) {
            await completeClaim(client, options.idempotency.claim, options.idempotency.answer(created));
          }
          return created;
        });
      },

      async get(id) {
        const { rows } = isUuid(id)
          ? await pool.query<JobRow>(`SELECT ${COLUMNS} FROM jobs WHERE id = $1`, [id])
          : { rows: [] };
        if (rows[0] === undefined) throw jobNotFound(id);
        return toJob(rows[0]);
      },

      async getMany(ids) {
        const { rows } = await pool.query<JobRow>(`SELECT ${COLUMNS} FROM jobs WHERE id = ANY($1::uuid[])`, [
          ids.filter(isUuid),
        ]);
        return rows.map(toJob);
      },

      async take(claim) {
        const { rows } = await pool.query<JobRow & { request: string; sealed: Uint8Array | null }>(
          `SELECT ${COLUMNS}, ${boundedText('request', MAX_REQUEST_BYTES, `'{}'`)} AS request,
             ${boundedText('sealed_token', 65_536)} AS sealed
           FROM jobs WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
          [claim.id, claim.attempt],
        );
        const row = rows[0];
        if (row === undefined) return null;
        return { job: toJob(row), claim, request: row.request, sealedToken: row.sealed };
      },

      async report(claim, { rowsDone, rowsTotal, bytesDone, bytesTotal }) {
        const { rowCount } = await pool.query(
          `UPDATE jobs SET rows_done = greatest(rows_done, $3), rows_total = $4,
             bytes_done = greatest(bytes_done, $5), bytes_total = $6
           WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
          [claim.id, claim.attempt, rowsDone, rowsTotal, bytesDone, bytesTotal],
        );
        if (rowCount === 0) throw await whyNot(pool, claim);
      },

      finish: (claim, end) =>
        inTransaction(pool, async (client) => {
          const { rows } = await client.query<JobRow>(
            `UPDATE jobs SET status = $3, error = $4, ${ENDED}
             WHERE id = $1 AND attempt = $2 AND finished_at IS NULL RETURNING ${COLUMNS}`,
            [claim.id, claim.attempt, end.status, end.status === 'failed' ? end.error : null],
          );
          if (rows[0] === undefined) throw await whyNot(client, claim);
          await ended(client, claim.id);
          return toJob(rows[0]);
        }),

      async requestCancel(id) {
        if (!isUuid(id)) throw jobNotFound(id);
        return await inTransaction(pool, async (client) => {
          const { rows } = await client.query<JobRow>(
            `UPDATE jobs SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
               status = CASE WHEN status = 'queued' THEN 'cancelled' ELSE 'cancelling' END,
               finished_at = CASE WHEN status = 'queued' THEN clock_timestamp() END,
               sealed_token = CASE WHEN status = 'queued' THEN NULL ELSE sealed_token END
             WHERE id = $1 AND finished_at IS NULL RETURNING ${COLUMNS}`,
            [id],
          );
          if (rows[0] !== undefined) {
            if (rows[0].finishedAt !== null) await ended(client, id);
            await client.query(`SELECT pg_notify('svc_cancel', $1)`, [id]);
            return toJob(rows[0]);
          }
          const found = await client.query<JobRow>(`SELECT ${COLUMNS} FROM jobs WHERE id = $1`, [id]);
          if (found.rows[0] === undefined) throw jobNotFound(id);
          return toJob(found.rows[0]);
        });
      },

      fail: (id, error) =>
        inTransaction(pool, async (client) => {
          const { rows } = await client.query<{ status: 'failed' | 'cancelled' }>(
            `UPDATE jobs SET status = CASE WHEN cancel_requested_at IS NULL THEN 'failed' ELSE 'cancelled' END,
               error = CASE WHEN cancel_requested_at IS NULL THEN $2 END, ${ENDED}
             WHERE id = $1 AND finished_at IS NULL RETURNING status`,
            [id, error],
          );
          if (rows[0] !== undefined) await ended(client, id);
          return rows[0]?.status ?? null;
        }),
    } satisfies Omit<JobStore, 'readArchive'>),

    async *readArchive(id) {
      for (let index = 0; ; index++) {
        const bytes = await readArchiveChunk(id, index);
        if (bytes === null) return;
        yield bytes;
      }
    },
  };
}

/**
 * Ends a job with its dataset, in the transaction that stores the dataset.
 *
 * @throws StoreError `superseded`, `job_finished`: then the dataset must not be stored
 */
export async function completeJob(client: pg.ClientBase, claim: JobClaim, datasetId: string): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE jobs SET status = 'succeeded', dataset_id = $3, ${ENDED},
       rows_total = coalesce(rows_total, rows_done), bytes_done = coalesce(bytes_total, bytes_done),
       bytes_total = coalesce(bytes_total, bytes_done)
     WHERE id = $1 AND attempt = $2 AND finished_at IS NULL AND cancel_requested_at IS NULL`,
    [claim.id, claim.attempt, datasetId],
  );
  if (rowCount === 0) throw await whyNot(client, claim);
  await client.query('DELETE FROM job_chunks WHERE job_id = $1', [claim.id]);
}

async function whyNot(client: pg.ClientBase | pg.Pool, claim: JobClaim): Promise<StoreError> {
  const { rows } = await client.query<{ attempt: number; status: string }>(
    'SELECT attempt, status FROM jobs WHERE id = $1',
    [claim.id],
  );
  const row = rows[0];
  if (row === undefined) return jobNotFound(claim.id);
  if (row.attempt !== claim.attempt) {
    return new StoreError('superseded', 'Another worker has taken the job over.');
  }
  const how = row.status === 'cancelling' ? 'is being cancelled' : `has ended already: it is ${row.status}`;
  return new StoreError('job_finished', `The job ${how}.`);
}

function jobNotFound(id: string): StoreError {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id;
  return new StoreError('job_not_found', `There is no job "${shown}".`);
}

/** Rows of `job_chunks` in PostgreSQL's binary COPY format; see encode-rows.ts. */
async function* chunkRows(id: string, archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const jobId = Buffer.from(id.replaceAll('-', ''), 'hex');
  let index = 0;
  for await (const bytes of archive) {
    const head = Buffer.alloc(2 + 4 + 16 + 4 + 4 + 4);
    head.writeInt16BE(3, 0);
    head.writeInt32BE(16, 2);
    jobId.copy(head, 6);
    head.writeInt32BE(4, 22);
    head.writeInt32BE(index, 26);
    index += 1;
    head.writeInt32BE(bytes.byteLength, 30);
    yield head;
    yield bytes;
  }
}

interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly rowsDone: string;
  readonly rowsTotal: string | null;
  readonly bytesDone: string;
  readonly bytesTotal: string | null;
  readonly datasetId: string | null;
  readonly error: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

function toJob(row: JobRow): Job {
  const { rowsTotal, bytesTotal } = row;
  return {
    id: row.id,
    kind: row.kind as JobKind,
    status: row.status as JobStatus,
    progress: {
      rowsDone: Number(row.rowsDone),
      rowsTotal: rowsTotal === null ? null : Number(rowsTotal),
      bytesDone: Number(row.bytesDone),
      bytesTotal: bytesTotal === null ? null : Number(bytesTotal),
    },
    datasetId: row.datasetId,
    error: row.error,
    requestId: row.requestId,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
  };
}
