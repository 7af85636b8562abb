import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { ApiError, badResponse, hasTexts, requireId, unwrap } from './api-error.ts';
import { type ApiClient, type BodyOf, createApiClient, type ResponseOf } from './create-api-client.ts';
import {
  type DatasetSummary,
  type Job,
  randomKey,
  type UploadFile,
  type UploadOptions,
  type UploadOutcome,
  uploadFile,
} from './upload-file.ts';

export type Run = ResponseOf<'/runs/{id}', 'get'>;

export interface FollowOptions {
  /** Time between two looks; default 1,000. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
}

const INTERVAL_MS = 1000;

/**
 * Follows a job: yields it now and whenever it has changed, and ends when the job has ended.
 *
 * @throws TypeError for an empty id; ApiError, also where another server responds (`bad_response`); the signal's reason
 * @example for await (const { status, progress } of followJob(client, id)) console.log(status, progress.rows_done);
 */
export function followJob(
  client: ApiClient,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Job, void, undefined> {
  const params = { path: { id: requireId(id, 'id') } };
  return follow('job', async (signal) => await client.GET('/jobs/{id}', { params, ...signal }), options);
}

/** The same for a run. @throws as `followJob` */
export function followRun(
  client: ApiClient,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Run, void, undefined> {
  const params = { path: { id: requireId(id, 'id') } };
  return follow('run', async (signal) => await client.GET('/runs/{id}', { params, ...signal }), options);
}

async function* follow<T extends { readonly finished_at?: string | null }>(
  kind: 'job' | 'run',
  look: (options: {
    readonly signal?: AbortSignal;
  }) => Promise<{ data?: T; error?: unknown; response: Response }>,
  { intervalMs = INTERVAL_MS, signal }: FollowOptions,
): AsyncGenerator<T, void, undefined> {
  let seen = '';
  for (;;) {
    const reply = await look(signal === undefined ? {} : { signal });
    const found = unwrap(reply);
    if (!hasTexts(found, 'id', 'status', 'created_at')) {
      throw badResponse(reply.response.status, reply.response.url, `no ${kind}`);
    }
    const text = canonicalJson(found as unknown as JsonValue);
    if (text !== seen) yield found;
    seen = text;
    if ((found.finished_at ?? null) !== null) return;
    await delay(intervalMs, signal);
  }
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A dataset, how to run it, and a name. */
export type RunRequest = BodyOf<'/runs'>;
/** What a run would do, and warnings. */
export type PlannedRun = ResponseOf<'/runs/plan', 'post'>;

export interface StartOptions {
  /** A repeat with the same key starts one run; default a random one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/**
 * Starts a run. Follow it with `followRun`.
 *
 * @throws ApiError; the signal's reason
 */
export async function startRun(
  client: ApiClient,
  request: RunRequest,
  { idempotencyKey = randomKey(), signal }: StartOptions = {},
): Promise<Run> {
  const reply = await client.POST('/runs', {
    params: { header: { 'Idempotency-Key': idempotencyKey } },
    body: request,
    ...(signal && { signal }),
  });
  const run = unwrap(reply);
  if (!hasTexts(run, 'id', 'status')) throw badResponse(reply.response.status, '/runs', 'no run');
  return run;
}

/**
 * Says what a run would do, and starts nothing.
 *
 * @throws ApiError; the signal's reason
 */
export async function planRun(
  client: ApiClient,
  request: RunRequest,
  { signal }: Pick<StartOptions, 'signal'> = {},
): Promise<PlannedRun> {
  return unwrap(await client.POST('/runs/plan', { body: request, ...(signal && { signal }) }));
}

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
