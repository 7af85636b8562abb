import type { Cli } from '../cli-context.ts';
import type { DatasetAnswer } from './dataset-answer.ts';
import { followJob, type JobAnswer } from './follow-job.ts';
import type { JsonAnswer, ServiceClient, ServiceRequest } from './service-client.ts';

/**
 * Sends a request that makes a dataset, and gives the dataset. In the background, a worker makes it and the job is
 * followed to its end, unless the service would rather do it at once (RFC 7240 leaves it the choice).
 */
export async function storeDataset(
  cli: Cli,
  service: ServiceClient,
  request: ServiceRequest,
  inBackground: boolean,
): Promise<JsonAnswer<DatasetAnswer>> {
  // The service answers when everything is stored, however long that takes.
  const patient = { ...request, answerTimeoutMs: 0 };
  if (!inBackground) return service.sendForJson<DatasetAnswer>(patient);
  const headers = { ...request.headers, prefer: 'respond-async' };
  const answer = await service.sendForJson<DatasetAnswer & JobAnswer>({ ...patient, headers });
  if (answer.status !== 202) return answer;
  const id = await followJob(cli, service, answer.value);
  return service.sendForJson<DatasetAnswer>({ method: 'GET', path: `/datasets/${encodeURIComponent(id)}` });
}
