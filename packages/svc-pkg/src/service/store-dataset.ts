import type { DatasetSummary, UploadOutcome } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import type { ServiceClient } from './client/service-client.ts';
import type { JsonResponse } from './client/service-request.ts';
import { trackJob } from './track-job.ts';

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
  return await service.read(service.api.GET('/datasets/{id}', { params: { path: { id } } }));
}
