import type { Cli } from '../cli-context.ts';
import { printResult } from '../print-result.ts';
import { type DatasetAnswer, datasetText } from './dataset-answer.ts';
import { followJob, type JobAnswer } from './follow-job.ts';
import type { ServiceClient, ServiceRequest } from './service-client.ts';

/**
 * Sends a request that makes a dataset and prints the dataset. In the background, a worker makes it and the job is
 * followed to its end.
 */
export async function storeDataset(
  cli: Cli,
  service: ServiceClient,
  request: ServiceRequest & { readonly method: 'POST' },
  inBackground: boolean,
): Promise<void> {
  // The service answers when everything is stored, however long that takes.
  const patient = { ...request, answerTimeoutMs: 0 };
  const answer = inBackground
    ? await storeInBackground(cli, service, patient)
    : await service.sendForJson<DatasetAnswer>(patient);
  await printResult(cli, { text: () => datasetText(answer.value), json: () => answer.text });
}

async function storeInBackground(
  cli: Cli,
  service: ServiceClient,
  request: ServiceRequest,
): Promise<{ text: string; value: DatasetAnswer }> {
  const headers = { ...request.headers, prefer: 'respond-async' };
  const job = await service.sendForJson<JobAnswer>({ ...request, headers });
  const id = await followJob(cli, service, job.value);
  return service.sendForJson<DatasetAnswer>({ method: 'GET', path: `/datasets/${encodeURIComponent(id)}` });
}
