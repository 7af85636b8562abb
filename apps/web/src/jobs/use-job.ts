import type { ResponseOf } from '@svc/client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useEvents } from '../api/use-events.ts';
import { useRead } from '../api/use-read.ts';

export type Job = ResponseOf<'/jobs/{id}', 'get'>;

/** A job as it is now, followed until its end. */
export function useJob(id: string): {
  readonly job: Job | undefined;
  readonly error: Error | null;
  /** Rows per second since the page saw the job first; null before there are any. */
  readonly rate: number | null;
} {
  const queries = useQueryClient();
  const seen = useRef<{ readonly atMs: number; readonly rows: number } | null>(null);
  const found = useRead({
    queryKey: ['job', id],
    read: (api, signal) => api.GET('/jobs/{id}', { params: { path: { id } }, signal }),
  });
  const job = found.data;
  useEvents<Job>(job !== undefined && job.finished_at === null ? `/jobs/${id}/events` : null, (next) =>
    queries.setQueryData(['job', id], next),
  );
  if (job?.status === 'running' && seen.current === null)
    seen.current = { atMs: performance.now(), rows: job.progress.rows_done };
  const start = seen.current;
  const elapsedMs = start === null ? 0 : performance.now() - start.atMs;
  const rows = start === null || job === undefined ? 0 : job.progress.rows_done - start.rows;
  return { job, error: found.error, rate: rows > 0 && elapsedMs > 500 ? (1000 * rows) / elapsedMs : null };
}
