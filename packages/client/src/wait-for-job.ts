import { ApiError, unwrap } from './api-error.ts';
import { type ApiClient, createApiClient } from './create-api-client.ts';
import { type FollowOptions, followJob, type Job } from './follow.ts';
import type { BodyOf } from './response-of.ts';
import {
  type DatasetSummary,
  randomKey,
  type UploadFile,
  type UploadOptions,
  type UploadOutcome,
  uploadFile,
} from './upload-file.ts';

export interface WaitOptions extends FollowOptions {
  /** Receives the job now and whenever it has changed. */
  readonly onChange?: (job: Job) => void;
}

/**
 * Waits until the job of an upload has ended.
 *
 * @param upload what `uploadFile` gave, or a job
 * @returns the dataset
 * @throws ApiError with the error of the job, or `job_cancelled`; as `followJob`
 */
export async function waitForJob(
  client: ApiClient,
  upload: UploadOutcome | Job,
  { onChange, ...options }: WaitOptions = {},
): Promise<DatasetSummary> {
  if ('dataset' in upload && upload.dataset !== undefined) return upload.dataset;
  let job: Job = 'job' in upload ? upload.job : (upload as Job);
  for await (job of followJob(client, job.id, options)) onChange?.(job);
  if (job.error != null) throw new ApiError(job.error.status, job.error);
  if (job.dataset_id === null)
    throw new ApiError(409, { ...CANCELLED, detail: `Job ${job.id} was cancelled.` });
  const params = { path: { id: job.dataset_id } };
  return unwrap(
    await client.GET('/datasets/{id}', { params, ...(options.signal && { signal: options.signal }) }),
  );
}

const CANCELLED = { code: 'job_cancelled', status: 409 };

/**
 * Uploads a file, or several as the sections of one dataset, and waits until they are stored.
 *
 * @throws as `uploadFile` and `waitForJob`
 * @example const { id } = await uploadDataset(input.files[0], { fields: { name: 'Sums' } });
 */
export async function uploadDataset(
  source: UploadFile | readonly UploadFile[],
  options: UploadOptions & WaitOptions = {},
): Promise<DatasetSummary> {
  return await waitForJob(createApiClient(options), await uploadFile(source, options), options);
}

/** A slice of a hub dataset, its mapping and the name of the new dataset. */
export type HubImportRequest = BodyOf<'/datasets/hub/import'>;

export interface ImportOptions extends WaitOptions {
  /** A repeat with the same key imports once; default a random one. */
  readonly idempotencyKey?: string;
}

/**
 * Imports a slice of a hub dataset by a job, and waits until it is stored.
 *
 * @throws as `waitForJob`
 */
export async function importHub(
  client: ApiClient,
  request: HubImportRequest,
  options: ImportOptions = {},
): Promise<DatasetSummary> {
  const { idempotencyKey = randomKey(), signal } = options;
  const started = unwrap(
    await client.POST('/datasets/hub/import', {
      params: { header: { 'Idempotency-Key': idempotencyKey, Prefer: 'respond-async' } },
      body: request,
      ...(signal && { signal }),
    }),
  );
  // A proxy may remove the header Prefer.
  return 'version_hash' in started ? started : await waitForJob(client, started, options);
}
