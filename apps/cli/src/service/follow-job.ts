import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { showProgress } from '../output/progress.ts';
import { parseProblem } from './parse-problem.ts';
import type { ServiceClient } from './service-client.ts';

/** The members of a Job (contract of the HTTP API) that are looked at. */
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
 * Waits until a job has ended, with its progress on a terminal.
 *
 * @returns the id of the dataset that it made
 * @throws ServiceError with the job's own error; CliError `job_ended` for a job that was cancelled or has no
 *   dataset
 */
export async function followJob(cli: Cli, service: ServiceClient, first: JobResponse): Promise<string> {
  using progress = showProgress(cli, 'importing', 'rows');
  for (let job = first; ; ) {
    progress.update(job.progress?.rows_done ?? 0, job.progress?.rows_total ?? null);
    if (job.status === 'succeeded' && typeof job.dataset_id === 'string') return job.dataset_id;
    if (job.status === 'failed' && job.error) throw jobError(job.error);
    if (!['queued', 'running', 'cancelling'].includes(job.status)) {
      throw new CliError('job_ended', `Job ${job.id} ended as ${job.status}, without a dataset`);
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: cli.signal });
    job = (
      await service.sendForJson<JobResponse>({ method: 'GET', path: `/jobs/${encodeURIComponent(first.id)}` })
    ).value;
  }
}

/** A job's error has the body that a failed request would have had. */
function jobError(error: Readonly<Record<string, unknown>>): Error {
  const status = typeof error['status'] === 'number' ? error['status'] : 500;
  return parseProblem({ status, headers: {}, text: JSON.stringify(error) });
}
