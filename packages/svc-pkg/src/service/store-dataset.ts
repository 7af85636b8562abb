import type { Job } from '@svc/client';
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
  requestOf: (idempotencyKey: string) => Promise<ServiceRequest> | ServiceRequest,
  inBackground: boolean,
): Promise<JsonResponse<DatasetResponse>> {
  const response = await createOnce<DatasetResponse & Job>(cli, service, async (idempotencyKey) => {
    const request = await requestOf(idempotencyKey);
    const headers = { ...request.headers, ...(inBackground && { prefer: 'respond-async' }) };
    // Without a job, the service responds when everything is stored, which may take long.
    return { ...request, headers, responseTimeoutMs: 0 };
  });
  if (response.status !== 202) return response;
  const id = await followJob(cli, service, response.value);
  return service.sendForJson<DatasetResponse>({ method: 'GET', path: `/datasets/${encodeURIComponent(id)}` });
}
