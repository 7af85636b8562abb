import type pg from 'pg';
import { MAX_ATTEMPTS } from './task-queue.ts';

/** How many tasks wait, wait for another attempt, are worked on, or failed at every attempt in the last seven days. */
export type QueueSizes = Readonly<Record<'queued' | 'retry' | 'running' | 'failed', number>>;

const COUNTED = `finished_at IS NULL
  OR finished_at > clock_timestamp() - interval '7 days' AND status = 'failed' AND failed_attempts >= ${MAX_ATTEMPTS}`;

const SIZES = `
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

/** See `Store.queueSizes`. */
export async function queueSizes(pool: pg.Pool): Promise<QueueSizes> {
  const { rows } = await pool.query<QueueSizes>(SIZES);
  return rows[0] ?? { queued: 0, retry: 0, running: 0, failed: 0 };
}
