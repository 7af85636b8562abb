import type { Job, UploadOutcome } from '@svc/client';
import type { Cli } from '../cli-context.ts';
import { createOnce } from './client/create-request.ts';
import type { ServiceClient } from './client/service-client.ts';
import type { JsonResponse, ServiceRequest } from './client/service-request.ts';
import type { DatasetResponse } from './dataset-response.ts';
import { followJob } from './follow-job.ts';

/**
 * Sends a request that creates a dataset, and returns the dataset. In the background, a worker creates it and this
 * follows the job to its end, unless the service creates it at once (RFC 7240 leaves the choice to the service). A lost
 * connection does not create it twice.
 */
export async function storeDataset(
  cli: Cli,
  service: ServiceClient,
  request: ServiceRequest,
  inBackground: boolean,
): Promise<JsonResponse<DatasetResponse>> {
  const headers = { ...request.headers, ...(inBackground && { prefer: 'respond-async' }) };
  // Without a job, the service responds when everything is stored, which may take long.
  const sent = { ...request, headers, responseTimeoutMs: 0 };
  const { status, value, text } = await createOnce<DatasetResponse & Job>(cli, service, () => sent);
  return await storedDataset(cli, service, status === 202 ? { job: value, text } : { dataset: value, text });
}

/** The dataset of a response that has it, or a job that makes it, which this follows to its end. */
export async function storedDataset(
  cli: Cli,
  service: ServiceClient,
  { job, dataset, text }: UploadOutcome,
): Promise<JsonResponse<DatasetResponse>> {
  if (dataset !== undefined) return { status: 201, text, value: dataset };
  const id = await followJob(cli, service, job);
  return service.sendForJson<DatasetResponse>({ method: 'GET', path: `/datasets/${encodeURIComponent(id)}` });
}
