import type pg from 'pg';
import type { StoreContext } from '../context.ts';
import { queryOf } from '../postgres/read-query.ts';
import { MAX_ATTEMPTS } from './task-queue.ts';

/** How much is stored, and how the imports of the last day ended. */
export interface Measurements {
  readonly databaseBytes: number;
  readonly assets: { readonly count: number; readonly bytes: number };
  readonly datasets: number;
  readonly runs: number;
  /** Jobs that were created in the last 24 hours or have not ended, by status. */
  readonly jobs: Readonly<Record<string, number>>;
}

const SIZES = `
  SELECT pg_database_size(current_database())::float8 AS "databaseBytes",
    (SELECT count(*) FROM datasets)::int AS datasets,
    (SELECT count(*) FROM runs WHERE NOT is_trial)::int AS runs, assets.count, assets.bytes
  FROM (SELECT count(*)::int AS count, coalesce(sum(byte_length), 0)::float8 AS bytes FROM assets a
    WHERE NOT EXISTS (SELECT FROM hub_contents h WHERE h.sha256 = a.sha256)) AS assets`;

const JOBS = `
  SELECT status, count(*)::int AS count FROM jobs
  WHERE finished_at IS NULL OR created_at > clock_timestamp() - interval '24 hours' GROUP BY status`;

/** How much is stored, and how imports ended. Counts the rows of three tables: callers keep what it answers for a while. */
export async function measure({ pool }: StoreContext): Promise<Measurements> {
  const query = queryOf(pool);
  const [sizes] = await query<{
    databaseBytes: number;
    datasets: number;
    runs: number;
    count: number;
    bytes: number;
  }>(SIZES);
  const jobs = await query<{ status: string; count: number }>(JOBS);
  return {
    databaseBytes: sizes?.databaseBytes ?? 0,
    assets: { count: sizes?.count ?? 0, bytes: sizes?.bytes ?? 0 },
    datasets: sizes?.datasets ?? 0,
    runs: sizes?.runs ?? 0,
    jobs: Object.fromEntries(jobs.map(({ status, count }) => [status, count])),
  };
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

/** The number of tasks by state. */
export async function queueSizes(pool: pg.Pool): Promise<QueueSizes> {
  const { rows } = await pool.query<QueueSizes>(QUEUE_SIZES);
  return rows[0] ?? { queued: 0, retry: 0, running: 0, failed: 0 };
}
