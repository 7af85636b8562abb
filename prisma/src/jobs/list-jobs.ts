import type { Pool } from '@svc/postgres';
import type { Page, PageRequest } from '../database/page.ts';
import { listTasks } from '../queue/list-tasks.ts';
import { JOB_COLUMNS, type Job, type JobKind, type JobRow, type JobStatus, toJob } from './job-row.ts';

export interface JobsRequest extends PageRequest {
  readonly status?: JobStatus | undefined;
  readonly kind?: JobKind | undefined;
}

/** See `JobStore.list`. */
export async function listJobs(pool: Pool, { status, kind, ...page }: JobsRequest): Promise<Page<Job>> {
  const found = await listTasks<JobRow>(pool, {
    ...{ ...page, table: 'jobs', columns: JOB_COLUMNS },
    ...{ equal: { status, kind }, texts: ['error'] },
  });
  return { ...found, data: found.data.map(toJob) };
}
