import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { showProgress } from '../output/progress.ts';
import { parseProblem } from './client/parse-problem.ts';
import type { ServiceClient } from './client/service-client.ts';

/** The members of a Job (HTTP API) that are read. */
export interface JobResponse {
  readonly id: string;
  readonly status: string;
  readonly progress?: {
    readonly rows_done?: number | null;
    readonly rows_total?: number | null;
  } | null;
  readonly dataset_id?: string | null;
  readonly error?: Readonly<Record<string, unknown>> | null;
}

const POLL_INTERVAL_MS = 1000;

/**
 * Waits until a job has ended; shows its progress on a terminal.
 *
 * @returns the id of the new dataset
 * @throws ServiceError with the error of the job; CliError `job_ended` for a job that was cancelled or has no dataset
 */
export async function followJob(cli: Cli, service: ServiceClient, first: JobResponse): Promise<string> {
  using progress = showProgress(cli, 'importing', 'rows');
  for (let job = first; ; ) {
    progress.update(job.progress?.rows_done ?? 0, job.progress?.rows_total ?? null);
    if (job.status === 'succeeded' && typeof job.dataset_id === 'string') return job.dataset_id;
    if (job.status === 'failed' && job.error) throw jobError(job.error);
    if (!['queued', 'running', 'cancelling'].includes(job.status)) {
      throw new CliError('job_ended', `Job ${job.id} ended without a dataset: its status is ${job.status}`);
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: cli.signal });
    job = (
      await service.sendForJson<JobResponse>({ method: 'GET', path: `/jobs/${encodeURIComponent(first.id)}` })
    ).value;
  }
}

/** The error of a job has the same members as the body of a failed request. */
function jobError(error: Readonly<Record<string, unknown>>): Error {
  const status = typeof error['status'] === 'number' ? error['status'] : 500;
  return parseProblem({ status, headers: {}, text: JSON.stringify(error) });
}
