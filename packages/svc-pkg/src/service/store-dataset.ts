import type { DatasetSummary, UploadOutcome } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import type { ServiceClient } from './client/service-client.ts';
import type { JsonResponse } from './client/service-request.ts';
import { trackJob } from './track-job.ts';

/** The dataset of a response that has it, or a job that makes it, which this follows to its end. */
export async function storedDataset(
  cli: Cli,
  service: ServiceClient,
  { job, dataset, text }: UploadOutcome,
): Promise<JsonResponse<DatasetSummary>> {
  if (dataset !== undefined) return { status: 201, text, value: dataset };
  const id = await trackJob(cli, service, job);
  return await service.read(service.api.GET('/datasets/{id}', { params: { path: { id } } }));
}
