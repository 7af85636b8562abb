import { ApiError } from './api-error.ts';
import type { ClientOptions } from './create-api-client.ts';
import type { Job } from './follow.ts';
import { type FormSource, formOf } from './form.ts';
import type { ResponseOf } from './response-of.ts';

export type DatasetSummary = ResponseOf<'/datasets/upload', 'post', 201>;

/** A file to upload. */
export type UploadSource = FormSource;

export interface UploadOptions extends Pick<ClientOptions, 'baseUrl' | 'key' | 'fetch'> {
  /** Form fields: `name`, `description`, `mapping`, `format`, `options`, `convert`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** A repeat with the same key stores the dataset once; default a random one. */
  readonly idempotencyKey?: string;
  /** Whether a job does the work; default true. */
  readonly inBackground?: boolean;
  /** Receives the bytes of the files that were sent. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

/** What an upload gives: a job to follow, or the dataset if the service stored it at once. */
export type UploadOutcome =
  | { readonly job: Job; readonly dataset?: undefined; readonly text: string }
  | { readonly dataset: DatasetSummary; readonly job?: undefined; readonly text: string };

/**
 * Uploads a file, or several as the sections of one dataset, while they are read: memory holds one chunk. In a browser, where
 * requests cannot be streamed everywhere, pass a `FormData` to `client.POST('/datasets/upload', ...)` instead.
 *
 * @returns the job or the dataset, and with it the `text` of the response, whose numbers have every digit
 * @throws ApiError; errors of `fetch` and of the sources; the signal's reason
 */
export async function uploadFile(
  source: UploadSource | readonly UploadSource[],
  options: UploadOptions = {},
): Promise<UploadOutcome> {
  const { baseUrl = '', key, fetch: send = fetch, idempotencyKey = crypto.randomUUID(), signal } = options;
  const { fields = {}, onProgress } = options;
  // The same bytes for the same key: the service compares repeated requests.
  const form = formOf([source].flat(), fields, `svc-client-${idempotencyKey}`, onProgress);
  const response = await send(
    new Request(`${baseUrl}/datasets/upload`, {
      method: 'POST',
      headers: {
        'Content-Type': form.contentType,
        // Browsers leave it out.
        'Content-Length': String(form.byteLength),
        'Idempotency-Key': idempotencyKey,
        ...((options.inBackground ?? true) && { Prefer: 'respond-async' }),
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      body: streamOf(form.parts()),
      ...(signal && { signal }),
      // Without it, fetch refuses a body that is a stream.
      duplex: 'half',
    } as RequestInit),
  );
  const text = await response.text();
  const body = parse(text);
  if (!response.ok || body === undefined) throw new ApiError(response.status, body);
  return response.status === 202 ? { job: body as Job, text } : { dataset: body as DatasetSummary, text };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function streamOf(chunks: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await chunks.return();
    },
  });
}
