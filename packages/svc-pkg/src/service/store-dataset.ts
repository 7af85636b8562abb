import { type DatasetSummary, followJob, type Job, type UploadOutcome } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { showProgress } from '../output/progress.ts';
import { readDataset } from './references.ts';
import { type JsonResponse, parseProblem, type ServiceClient } from './service-client.ts';

/** A dataset that was stored, or to which the run of another tool was added. */
export type StoredDataset = DatasetSummary & {
  /** The run that was added; a job does not state it. */
  readonly run_id?: string;
};

/** The dataset of a response that has it, or of a job, which this follows to its end. */
export async function storedDataset(
  cli: Cli,
  service: ServiceClient,
  { job, dataset, text }: UploadOutcome,
): Promise<JsonResponse<StoredDataset>> {
  if (dataset !== undefined) return { status: 201, text, value: dataset };
  const id = await trackJob(cli, service, job);
  return await readDataset(service, { id });
}

/**
 * Waits until a job has ended; shows its progress on a terminal.
 *
 * @returns the id of the new dataset
 * @throws ServiceError with the error of the job; CliError `job_ended` for a job that was cancelled or has no dataset
 */
async function trackJob(cli: Cli, service: ServiceClient, first: Job): Promise<string> {
  using progress = showProgress(cli, 'importing', 'rows');
  let job = first;
  if (isActive(job)) {
    for await (job of followJob(service.api, first.id, { signal: cli.signal })) {
      progress.update(job.progress?.rows_done ?? 0, job.progress?.rows_total ?? null);
      if (!isActive(job)) break;
    }
  }
  if (job.status === 'succeeded' && typeof job.dataset_id === 'string') return job.dataset_id;
  if (job.status === 'failed' && job.error) throw jobError(job.error);
  throw new CliError('job_ended', `Job ${job.id} ended without a dataset: its status is ${job.status}`);
}

const isActive = ({ status }: Job): boolean => ['queued', 'running', 'cancelling'].includes(status);

/** The error of a job has the same members as the body of a failed request. */
function jobError(error: Readonly<Record<string, unknown>>): Error {
  const status = typeof error['status'] === 'number' ? error['status'] : 500;
  return parseProblem({ status, headers: {}, text: JSON.stringify(error) });
}
