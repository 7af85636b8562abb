import { tryParseJson } from '@svc/jsonl-v23/json';
import { ApiError, hasTexts } from './api-error.ts';
import type { ClientOptions, ResponseOf } from './create-api-client.ts';
import { type FormSource, formOf } from './form.ts';

export type Job = ResponseOf<'/jobs/{id}', 'get'>;
export type DatasetSummary = ResponseOf<'/datasets/upload', 'post', 201>;

/** What an upload would store. */
export type CheckedUpload = ResponseOf<'/datasets/upload/check', 'post'>;

/** A file to upload, which is read while it is sent. */
export type UploadSource = FormSource;

/** What can be uploaded. */
export type UploadFile = Blob | UploadSource;

export interface UploadOptions extends Pick<ClientOptions, 'baseUrl' | 'key' | 'fetch'> {
  /** Form fields: `name`, `description`, `mapping`, `format`, `options`, `convert`, `handle`, `message`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** What to do if the dataset exists: `reuse`, `version`, `error`; by default the service makes another one. */
  readonly ifExists?: 'reuse' | 'version' | 'error';
  /** A repeat with the same key stores the dataset once; default a random one. */
  readonly idempotencyKey?: string;
  /** Whether a job does the work; default true. */
  readonly inBackground?: boolean;
  /** Receives the bytes of the files that were sent. Those of `File`s and `Blob`s are counted when all were sent. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

/** What an upload gives: a job to follow, or the dataset if the service stored it immediately. */
export type UploadOutcome =
  | { readonly job: Job; readonly dataset?: undefined; readonly text: string }
  | { readonly dataset: DatasetSummary; readonly job?: undefined; readonly text: string };

/**
 * Uploads a file, or several as the sections of one dataset. Sources that read themselves are sent while they are read:
 * memory holds one chunk. Browsers cannot send streams everywhere; pass a `File` or `Blob` there.
 *
 * @returns the job or the dataset, and with it the `text` of the response
 * @throws ApiError; RangeError for a source of another length than it says; errors of `fetch` and of the sources; the
 * signal's reason
 */
export async function uploadFile(
  source: UploadFile | readonly UploadFile[],
  options: UploadOptions = {},
): Promise<UploadOutcome> {
  const { ifExists } = options;
  const path = `/datasets/upload${ifExists === undefined ? '' : `?if_exists=${ifExists}`}`;
  const preference: Record<string, string> =
    (options.inBackground ?? true) ? { Prefer: 'respond-async' } : {};
  const isExpected = (body: unknown, status: number): boolean =>
    hasTexts(body, 'id', status === 202 ? 'status' : 'version_hash');
  const { status, body, text } = await sendFiles(path, source, preference, options, isExpected);
  return status === 202 ? { job: body as Job, text } : { dataset: body as DatasetSummary, text };
}

/**
 * Says what an upload would store, with every row that becomes no item, and stores nothing.
 *
 * @throws as `uploadFile`
 */
export async function checkUpload(
  source: UploadFile | readonly UploadFile[],
  options: Omit<UploadOptions, 'inBackground' | 'ifExists'> = {},
): Promise<{ readonly check: CheckedUpload; readonly text: string }> {
  const { body, text } = await sendFiles('/datasets/upload/check', source, {}, options, isCheck);
  return { check: body as CheckedUpload, text };
}

/** Whether a body says what a request would do. */
export const isCheck = (body: unknown): boolean =>
  Array.isArray((body as Partial<CheckedUpload> | null)?.errors);

/** @param isExpected whether the body of a successful response is one of this service */
export async function sendFiles(
  path: string,
  source: UploadFile | readonly UploadFile[],
  headers: Readonly<Record<string, string>>,
  options: Omit<UploadOptions, 'inBackground'>,
  isExpected: (body: unknown, status: number) => boolean,
): Promise<{ readonly status: number; readonly body: unknown; readonly text: string }> {
  const { baseUrl = '', key, fetch: send = fetch, idempotencyKey = randomKey(), signal } = options;
  // Node 24 ends the process where a form is sent with a signal that is aborted already (a rejection in undici).
  signal?.throwIfAborted();
  const sources = [source].flat();
  const form = sources.every((one) => one instanceof Blob)
    ? formDataOf(sources, options)
    : streamOf(sources.map(toFormSource), idempotencyKey, options);
  const request = new Request(`${baseUrl}${path}`, {
    method: 'POST',
    headers: {
      ...form.headers,
      'Idempotency-Key': idempotencyKey,
      ...headers,
      ...(key && { Authorization: `Bearer ${key}` }),
    },
    body: form.body,
    ...(signal && { signal }),
    // Without it, fetch refuses a body that is a stream.
    duplex: 'half',
  } as RequestInit);
  try {
    const response = await send(request).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw form.failure() ?? error;
    });
    const text = await response.text();
    const body = tryParseJson(text);
    const { ok, status } = response;
    if (!ok || !isExpected(body, status)) throw new ApiError(status, body);
    form.end();
    return { status, body, text };
  } finally {
    form.close();
  }
}

/** A new `Idempotency-Key`. Pages over plain HTTP have no `crypto.randomUUID`. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16)).join('-');
}

/** The body of an upload. */
interface UploadBody {
  readonly body: FormData | ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
  /** What a source threw, which `fetch` hides in another error. */
  failure(): unknown;
  /** Closes sources that were not read to their end: `fetch` goes on reading them after it has failed. */
  close(): void;
  /** Counts what was not counted while it was sent. */
  end(): void;
}

function formDataOf(blobs: readonly Blob[], { fields = {}, onProgress }: UploadOptions): UploadBody {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  for (const blob of blobs) body.append('file', blob, nameOf(blob));
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
  return {
    body,
    headers: {},
    failure: () => undefined,
    close: () => {},
    end: () => onProgress?.(bytes, bytes),
  };
}

function streamOf(
  sources: readonly FormSource[],
  idempotencyKey: string,
  { fields = {}, onProgress }: UploadOptions,
): UploadBody {
  // The same bytes for the same key.
  const { contentType, byteLength, parts } = formOf(
    sources,
    fields,
    `svc-client-${idempotencyKey}`,
    onProgress,
  );
  let failure: unknown;
  const chunks = parts();
  // Not awaited: a source may be silent, and is closed once it gives its next chunk.
  const close = (): void => void chunks.return().catch(() => undefined);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    async cancel() {
      await chunks.return();
    },
  });
  // Browsers leave the length out.
  const headers = { 'Content-Type': contentType, 'Content-Length': String(byteLength) };
  return { body, headers, failure: () => failure, close, end: () => {} };
}

function toFormSource(source: UploadFile): FormSource {
  return source instanceof Blob
    ? { name: nameOf(source), byteLength: source.size, read: () => source.stream() }
    : source;
}

const nameOf = (blob: Blob): string => ('name' in blob ? String(blob.name) : 'blob');
