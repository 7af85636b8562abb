import type pg from 'pg';
import type { StoreContext } from './context.ts';
import {
  asStoreErrors,
  type OutageReason,
  operatorMessage,
  outage,
  StoreError,
  toStoreError,
} from './database/errors.ts';
import { migrationNames, missingMigrations } from './migrate/migrate.ts';
import { createPool, inTransaction, type Pool } from './postgres/pool.ts';
import { queryOf } from './postgres/read-query.ts';
import { MAX_ATTEMPTS } from './queue/task-queue.ts';

export interface Check {
  readonly ok: boolean;
  readonly reason?: OutageReason;
  readonly detail?: string;
}

export interface Readiness {
  readonly database: Check;
  readonly queue: Check;
}

/** The database has become usable, or is so no more for another reason than before. */
export interface DatabaseChange extends Check {
  /** For logs and terminals: names the database, and the reason of the system. */
  readonly message: string;
}

interface ProbesOptions {
  readonly url: string;
  /** Called when it changes; the database counts as usable at first. */
  readonly onChange?: ((change: DatabaseChange) => void) | undefined;
}

const TIMEOUT_MS = 2_000;
/** How long the database counts as ready after it was: nobody needs a key to ask, and each answer would take two statements. */
const READY_MS = 1_000;
/** How often a database that is not usable is asked whether it is again, also if nobody else asks. */
const RETRY_MS = 1_000;
const CONNECTIONS = 2;
const DISK_FULL = '53100';
/** Takes a megabyte of the disk for a moment, which rows of less than a page may still find. */
const TAKE_ROOM = `CREATE TEMP TABLE svc_room ON COMMIT DROP AS
  SELECT repeat(md5(n::text), 60) AS text FROM generate_series(1, 550) AS n`;

/** Makes what answers supervisors, on separate connections that wait for no other work. Connects on first use. */
export function createProbes({ url, onChange }: ProbesOptions) {
  let isFull = false;
  const pool = createPool({
    url,
    applicationName: 'svc-probes',
    size: CONNECTIONS,
    keepIdle: true,
    silenceMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
  });
  /** Migrations of this version; they do not change while the process runs. */
  let names: readonly string[] | undefined;
  const checkDatabase = async (): Promise<void> => {
    names ??= await migrationNames();
    if ((await missingMigrations(pool, names)).length > 0) throw outage('not_migrated');
    if (isFull) {
      await inTransaction(pool, (client) => client.query(TAKE_ROOM), 'BEGIN');
      isFull = false;
    }
  };
  let reported: OutageReason | 'ok' | undefined = 'ok';
  const report = (check: Check, error: unknown): void => {
    const state = check.ok ? 'ok' : check.reason;
    if (state === reported) return;
    reported = state;
    onChange?.({ ...check, message: check.ok ? 'The database can be used.' : operatorMessage(error) });
  };
  const check = async (): Promise<Readiness> => {
    const [database, queue] = await Promise.all([failureOf(checkDatabase()), failureOf(queueSizes(pool))]);
    const readiness = { database: toCheck(database), queue: toCheck(queue) };
    const isReady = readiness.database.ok && readiness.queue.ok;
    validUntil = isReady ? performance.now() + READY_MS : 0;
    if (isClosed) return readiness;
    report(readiness.database, database);
    if (!readiness.database.ok) watch();
    return readiness;
  };
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  const watch = (): void => {
    clearTimeout(retry);
    retry = setTimeout(() => void ready(), RETRY_MS).unref();
  };
  let checked: Promise<Readiness> | undefined;
  let validUntil = 0;
  const ready = (): Promise<Readiness> => {
    if (checked === undefined || performance.now() >= validUntil) {
      validUntil = Number.POSITIVE_INFINITY;
      checked = check();
    }
    return checked;
  };
  return {
    /** Whether the database can be used by this version. Never throws; a good answer is shared for a second. */
    ready,
    /** The number of tasks by state. @throws StoreError `unavailable` */
    queueSizes: (): Promise<QueueSizes> => asStoreErrors(() => inTime(queueSizes(pool))),
    /** The bytes that the database takes on its disk. @throws StoreError `unavailable` */
    databaseBytes: (): Promise<number> => asStoreErrors(() => inTime(databaseBytes(pool))),
    /** Takes the SQLSTATE of an error that the server sent to any connection of this process. */
    noteError(code: string | undefined): void {
      if (code !== DISK_FULL || isFull || isClosed) return;
      isFull = true;
      validUntil = Math.min(validUntil, 0);
      watch();
    },
    close(): Promise<void> {
      isClosed = true;
      clearTimeout(retry);
      return pool.end();
    },
  };
}

async function databaseBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'SELECT pg_database_size(current_database())::float8 AS bytes',
  );
  return rows[0]?.bytes ?? 0;
}

const toCheck = (error: StoreError | null): Check =>
  error === null ? { ok: true } : { ok: false, reason: error.reason ?? 'unreachable', detail: error.message };

async function failureOf(query: Promise<unknown>): Promise<StoreError | null> {
  try {
    await inTime(query);
    return null;
  } catch (error) {
    const failure = toStoreError(error);
    return failure instanceof StoreError ? failure : outage('unreachable', error);
  }
}

async function inTime<T>(query: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(outage('unreachable', new Error('It did not respond in time.'))),
    TIMEOUT_MS,
  );
  try {
    return await Promise.race([query, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Sizes {
  readonly databaseBytes: number;
  readonly datasets: number;
  readonly runs: number;
  readonly assets: { readonly count: number; readonly bytes: number };
}

const SIZES = `
  SELECT pg_database_size(current_database())::float8 AS "databaseBytes", (SELECT count(*) FROM datasets)::int AS datasets,
    (SELECT count(*) FROM runs WHERE NOT is_trial)::int AS runs,
    (SELECT json_build_object('count', count(*), 'bytes', coalesce(sum(byte_length), 0)) FROM assets a
      WHERE NOT EXISTS (SELECT FROM hub_contents h WHERE h.sha256 = a.sha256)) AS assets`;

/** Jobs that were created in the last 24 hours or have not ended, by status. */
const JOBS = `
  SELECT status, count(*)::int AS count FROM jobs
  WHERE finished_at IS NULL OR created_at > clock_timestamp() - interval '24 hours' GROUP BY status`;

/** How much is stored, and how imports ended. Counts the rows of three tables: callers keep what it answers for a while. */
export async function measure({ pool }: StoreContext) {
  const query = queryOf(pool);
  const [sizes] = await query<Sizes>(SIZES);
  const jobs = await query<{ status: string; count: number }>(JOBS);
  return { ...(sizes as Sizes), jobs: Object.fromEntries(jobs.map(({ status, count }) => [status, count])) };
}

/** How many tasks wait, wait for another attempt, are worked on, or failed at every attempt in the last seven days. */
export type QueueSizes = Readonly<Record<'queued' | 'retry' | 'running' | 'failed', number>>;

const COUNTED = `finished_at IS NULL
  OR finished_at > clock_timestamp() - interval '7 days' AND status = 'failed' AND failed_attempts >= ${MAX_ATTEMPTS}`;

const QUEUE_SIZES = `
  SELECT count(*) FILTER (WHERE waits AND failed_attempts = 0)::int AS queued,
    count(*) FILTER (WHERE waits AND failed_attempts > 0)::int AS retry,
    count(*) FILTER (WHERE finished_at IS NULL AND NOT waits)::int AS running,
    count(*) FILTER (WHERE finished_at IS NOT NULL)::int AS failed
  FROM (
    SELECT finished_at, failed_attempts, finished_at IS NULL AND lease_expires_at IS NULL AS waits FROM runs
    WHERE available_at < 'infinity' AND (${COUNTED})
    UNION ALL
    SELECT finished_at, failed_attempts, finished_at IS NULL AND lease_expires_at IS NULL FROM jobs WHERE ${COUNTED}
  ) AS tasks`;

async function queueSizes(pool: pg.Pool): Promise<QueueSizes> {
  const { rows } = await pool.query<QueueSizes>(QUEUE_SIZES);
  return rows[0] ?? { queued: 0, retry: 0, running: 0, failed: 0 };
}
