import type { StoreContext } from '../context.ts';
import { CHECK_INTERVAL_KEY, DEFAULT_SETTINGS } from '../settings/settings-store.ts';

/** What a worker learns about the runs and jobs that it works on. */
export interface Cancellations {
  /** Those to stop: a cancel was asked for, they have ended elsewhere, or they were deleted. */
  readonly cancelled: readonly string[];
  /** When to ask again, as the settings say now. */
  readonly checkIntervalMs: number;
}

/**
 * Asks for all runs and jobs of a process and for the interval in one query.
 *
 * @param ids uuids of runs and jobs
 */
export async function cancellationsAmong(
  { pool }: Pick<StoreContext, 'pool'>,
  ids: readonly string[],
): Promise<Cancellations> {
  const { rows } = await pool.query<{ cancelled: string[]; interval: string | null }>(
    `SELECT ARRAY(
       SELECT wanted.id FROM unnest($1::uuid[]) AS wanted (id)
       WHERE NOT EXISTS (SELECT FROM runs WHERE runs.id = wanted.id AND cancel_requested_at IS NULL AND finished_at IS NULL)
         AND NOT EXISTS (SELECT FROM jobs WHERE jobs.id = wanted.id AND cancel_requested_at IS NULL AND finished_at IS NULL)
     ) AS cancelled, (SELECT value FROM settings WHERE key = $2 AND octet_length(value) <= 1000) AS interval`,
    [ids, CHECK_INTERVAL_KEY],
  );
  const interval = Number(rows[0]?.interval ?? Number.NaN);
  return {
    cancelled: rows[0]?.cancelled ?? [],
    checkIntervalMs: Number.isFinite(interval) ? interval : DEFAULT_SETTINGS.cancellationCheckIntervalMs,
  };
}
