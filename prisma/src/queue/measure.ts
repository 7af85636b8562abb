import type { Pool } from '../postgres/pool.ts';
import { createReadQuery } from '../postgres/read-query.ts';

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

/** See `Store.measure`. Counts the rows of three tables: callers keep what it answers for a while. */
export async function measure(pool: Pool, signal?: AbortSignal): Promise<Measurements> {
  const query = createReadQuery(pool, signal);
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
