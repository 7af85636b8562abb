import { ApiError } from './api-error.ts';
import type { ClientOptions } from './create-api-client.ts';
import type { Job } from './follow.ts';
import type { ResponseOf } from './response-of.ts';

export type DatasetSummary = ResponseOf<'/datasets/upload', 'post', 201>;

/** A file to upload. */
export interface UploadSource {
  readonly name: string;
  readonly byteLength: number;
  /** The bytes, from the beginning in each call. */
  read(): AsyncIterable<Uint8Array>;
}

export interface UploadOptions extends Pick<ClientOptions, 'baseUrl' | 'key' | 'fetch'> {
  /** Form fields: `name`, `description`, `mapping`, `format`, `options`, `convert`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** A repeat with the same key stores the dataset once; default a random one. */
  readonly idempotencyKey?: string;
  /** Whether a job does the work; default true. */
  readonly inBackground?: boolean;
  /** Receives the bytes of the file that were sent. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

/** What an upload gives: a job to follow, or the dataset if the service stored it at once. */
export type UploadOutcome =
  | { readonly job: Job; readonly dataset?: undefined }
  | { readonly dataset: DatasetSummary; readonly job?: undefined };

/**
 * Uploads a file while it is read: memory holds one chunk. In a browser, where requests cannot be streamed everywhere, pass a
 * `FormData` to `client.POST('/datasets/upload', ...)` instead.
 *
 * @throws ApiError; errors of `fetch` and of the source; the signal's reason
 */
export async function uploadFile(source: UploadSource, options: UploadOptions = {}): Promise<UploadOutcome> {
  const { baseUrl = '', key, fetch: send = fetch, idempotencyKey = crypto.randomUUID(), signal } = options;
  const boundary = `svc-client-${idempotencyKey}`;
  const response = await send(
    new Request(`${baseUrl}/datasets/upload`, {
      method: 'POST',
      headers: {
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Idempotency-Key': idempotencyKey,
        ...((options.inBackground ?? true) && { Prefer: 'respond-async' }),
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      body: streamOf(formParts(source, boundary, options)),
      ...(signal && { signal }),
      // Without it, fetch refuses a body that is a stream.
      duplex: 'half',
    } as RequestInit),
  );
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw new ApiError(response.status, body);
  return response.status === 202 ? { job: body as Job } : { dataset: body as DatasetSummary };
}

async function* formParts(
  source: UploadSource,
  boundary: string,
  { fields = {}, onProgress }: UploadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  const part = (disposition: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  for (const [name, value] of Object.entries(fields)) {
    yield encoder.encode(`${part(`name="${escaped(name)}"`)}\r\n${value}\r\n`);
  }
  const file = `name="file"; filename="${escaped(source.name)}"`;
  yield encoder.encode(`${part(file)}Content-Type: application/octet-stream\r\n\r\n`);
  let sentBytes = 0;
  for await (const chunk of source.read()) {
    yield chunk;
    sentBytes += chunk.byteLength;
    onProgress?.(sentBytes, source.byteLength);
  }
  yield encoder.encode(`\r\n--${boundary}--\r\n`);
}

/** As browsers do (HTML, "multipart/form-data encoding algorithm"). */
const escaped = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

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
