import type { Cli } from '../cli-context.ts';
import type { DatasetResponse } from './dataset-response.ts';
import { followJob, type JobResponse } from './follow-job.ts';
import type { JsonResponse, ServiceClient, ServiceRequest } from './service-client.ts';

/**
 * Sends a request that creates a dataset, and returns the dataset. In the background, a worker creates it and this
 * follows the job to its end, unless the service creates it at once (RFC 7240 leaves the choice to the service).
 */
export async function storeDataset(
  cli: Cli,
  service: ServiceClient,
  request: ServiceRequest,
  inBackground: boolean,
): Promise<JsonResponse<DatasetResponse>> {
  // The service responds when everything is stored, which may take long.
  const storeRequest = { ...request, responseTimeoutMs: 0 };
  if (!inBackground) return service.sendForJson<DatasetResponse>(storeRequest);
  const headers = { ...request.headers, prefer: 'respond-async' };
  const response = await service.sendForJson<DatasetResponse & JobResponse>({ ...storeRequest, headers });
  if (response.status !== 202) return response;
  const id = await followJob(cli, service, response.value);
  return service.sendForJson<DatasetResponse>({ method: 'GET', path: `/datasets/${encodeURIComponent(id)}` });
}
