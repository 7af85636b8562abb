import type { Cli } from '../cli-context.ts';
import type { DatasetResponse } from './dataset-response.ts';
import { followJob, type JobResponse } from './follow-job.ts';
import type { JsonResponse, ServiceClient, ServiceRequest } from './service-client.ts';

/**
 * Sends a request that makes a dataset, and gives the dataset. In the background, a worker makes it and the job is
 * followed to its end, unless the service would rather do it at once (RFC 7240 leaves it the choice).
 */
export async function storeDataset(
  cli: Cli,
  service: ServiceClient,
  request: ServiceRequest,
  inBackground: boolean,
): Promise<JsonResponse<DatasetResponse>> {
  // The service answers when everything is stored, however long that takes.
  const patient = { ...request, responseTimeoutMs: 0 };
  if (!inBackground) return service.sendForJson<DatasetResponse>(patient);
  const headers = { ...request.headers, prefer: 'respond-async' };
  const answer = await service.sendForJson<DatasetResponse & JobResponse>({ ...patient, headers });
  if (answer.status !== 202) return answer;
  const id = await followJob(cli, service, answer.value);
  return service.sendForJson<DatasetResponse>({ method: 'GET', path: `/datasets/${encodeURIComponent(id)}` });
}
