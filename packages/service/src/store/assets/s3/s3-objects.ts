import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { StoreError } from '../../database/errors.ts';
import type { AssetContent, ByteRange } from '../asset-store.ts';

export interface S3Location {
  readonly bucket: string;
  /** Empty, or a text that ends with a slash. */
  readonly prefix: string;
  /** Endpoint of a server other than Amazon's; null for the one that the SDK finds in its own variables. */
  readonly endpoint: string | null;
  readonly region: string | null;
}

/**
 * Objects of a bucket, by keys without its prefix. Every method throws StoreError `unavailable` when the server cannot be
 * reached, takes too long or refuses the credentials, and the signal's reason when it is aborted.
 */
export type S3Objects = ReturnType<typeof createS3Objects>;

interface S3ObjectsOptions {
  readonly location: S3Location;
  /** How long a connection, and then a request, may take; an upload has more time, by its size. */
  readonly connectMs?: number;
  readonly responseMs?: number;
  readonly idleMs?: number;
  readonly retryDelayMs?: number;
}

/** Uploads that are slower than this are given up. */
const MIN_UPLOAD_BYTES_PER_MS = 64;
/** Of a request, which the SDK repeats while the server is busy or does not answer. */
const MAX_ATTEMPTS = 3;
const MAX_FAILURES = 3;
/** A read that got so far may fail as often again. */
const PROGRESS_BYTES = 256 * 1024;

type Sdk = typeof import('@aws-sdk/client-s3');

/**
 * Makes the objects. The SDK, which takes long to load, is imported with the first request; it takes credentials and region
 * from its default chain.
 */
export function createS3Objects(options: S3ObjectsOptions) {
  const { location, connectMs = 5_000, responseMs = 15_000, idleMs = 30_000, retryDelayMs = 200 } = options;
  let loading: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | undefined;
  const load = (): NonNullable<typeof loading> => {
    loading ??= import('@aws-sdk/client-s3').then((sdk) => ({
      sdk,
      client: new sdk.S3Client(settings(location, connectMs, responseMs)),
    }));
    return loading;
  };
  const at = (name: string) => ({ Bucket: location.bucket, Key: location.prefix + name });
  const waitToRetry = (failures: number, signal: AbortSignal | undefined): Promise<unknown> =>
    sleep(retryDelayMs * 2 ** (failures - 1), undefined, signal === undefined ? {} : { signal });

  /** Bytes `start` to `end`, which is not included, and perhaps more. The caller destroys the stream. */
  async function get(name: string, { start, end }: ByteRange, signal?: AbortSignal): Promise<Readable> {
    const { sdk, client } = await load();
    const command = new sdk.GetObjectCommand({ ...at(name), Range: `bytes=${start}-${end - 1}` });
    const { Body, ContentRange } = await client.send(command, abortable(signal));
    const body = Body as Readable;
    // A server may send more than it was asked for, but not from elsewhere.
    if (start > 0 && ContentRange?.startsWith(`bytes ${start}-`) !== true) {
      body.destroy();
      throw new Error('The server ignored the range of the request.');
    }
    return signal === undefined ? body : addAbortSignal(signal, body);
  }

  /** Sends a request about an object. @returns whether it is there */
  async function send(name: string, request: () => Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      const found = toS3Error(error, name);
      if (found.code === 'asset_missing') return false;
      throw found;
    }
  }

  return {
    async put(name: string, { sha256, bytes }: AssetContent, signal?: AbortSignal): Promise<void> {
      try {
        const { sdk, client } = await load();
        const command = new sdk.PutObjectCommand({ ...at(name), Body: bytes });
        // The hash is known, and the server compares it with what arrives, also where the connection is encrypted.
        command.middlewareStack.add(
          (next) => async (args) => {
            (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256;
            return await next(args);
          },
          { step: 'build', name: 'contentHash' },
        );
        const requestTimeout = responseMs + Math.ceil(bytes.byteLength / MIN_UPLOAD_BYTES_PER_MS);
        await client.send(command, { ...abortable(signal), requestTimeout });
      } catch (error) {
        signal?.throwIfAborted();
        throw toS3Error(error, name);
      }
    },

    /** Reads `start` up to, not with, `end`; resumes a broken connection. @throws StoreError `asset_missing` */
    async *read(name: string, { start, end }: ByteRange, signal?: AbortSignal) {
      let from = start;
      let failures = 0;
      let resumedAt = start;
      while (from < end) {
        try {
          const range = { start: from, end };
          for await (const chunk of readOnce(await get(name, range, signal), end - from, idleMs)) {
            from += chunk.byteLength;
            yield chunk;
          }
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof BodyError)) throw toS3Error(error, name);
          failures = from - resumedAt >= PROGRESS_BYTES ? 1 : failures + 1;
          resumedAt = from;
          if (failures === MAX_FAILURES) throw toS3Error(error.cause, name);
          await waitToRetry(failures, signal);
        }
      }
    },

    async exists(name: string, signal?: AbortSignal): Promise<boolean> {
      const { sdk, client } = await load();
      return await send(
        name,
        () => client.send(new sdk.HeadObjectCommand(at(name)), abortable(signal)),
        signal,
      );
    },

    /** Deletes an object; one that is not there is deleted already. */
    async delete(name: string, signal?: AbortSignal): Promise<void> {
      const { sdk, client } = await load();
      await send(name, () => client.send(new sdk.DeleteObjectCommand(at(name)), abortable(signal)), signal);
    },

    close: () => void loading?.then(({ client }) => client.destroy()),
  };
}

const abortable = (signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } =>
  signal === undefined ? {} : { abortSignal: signal };

function settings({ endpoint, region }: S3Location, connectMs: number, responseMs: number): object {
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    // Servers other than Amazon's have neither buckets as host names nor the newer checksums.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: responseMs,
      throwOnRequestTimeout: true,
    },
  };
}

const ignore = (): void => undefined;
/** The SDK would write warnings to the console; its errors say the same. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A response that was interrupted, or paused for too long: the rest can be requested. */
class BodyError extends Error {}

async function* readOnce(body: Readable, byteLength: number, idleMs: number) {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let leftBytes = byteLength;
  try {
    for (;;) {
      // Only our own wait counts: a slow reader is not the server's fault.
      const timer = setTimeout(() => body.destroy(new Error(`No bytes in ${idleMs} ms.`)), idleMs);
      const next = await chunks
        .next()
        .catch((error: unknown) => {
          throw new BodyError('The response was interrupted.', { cause: error });
        })
        .finally(() => clearTimeout(timer));
      // The end of the response, for which we wait after its last byte, frees the connection for the next request.
      if (next.done === true || leftBytes === 0) break;
      const chunk = next.value.subarray(0, leftBytes);
      leftBytes -= chunk.byteLength;
      yield chunk;
    }
    if (leftBytes > 0)
      throw new BodyError('The response was interrupted.', { cause: new Error('It ended early.') });
  } finally {
    body.destroy();
  }
}

interface S3Failure {
  readonly name?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $fault?: unknown;
}

const REFUSED: ReadonlySet<unknown> = new Set([
  'AccessDenied',
  'CredentialsProviderError',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
]);

const failureOf = (error: unknown): S3Failure => (typeof error === 'object' && error !== null ? error : {});

/** The error of the store for one of S3, without texts of the server: `asset_missing`, else `unavailable`. */
function toS3Error(error: unknown, key: string): StoreError {
  if (error instanceof StoreError) return error;
  const { name, $metadata } = failureOf(error);
  const status = $metadata?.httpStatusCode;
  // A response to HEAD has no body that would name the code.
  if (name === 'NoSuchKey' || name === 'NotFound') {
    return new StoreError(
      'asset_missing',
      `Cannot read the asset ${key.slice(0, 64)}: the object storage does not have it.`,
      {
        cause: error,
      },
    );
  }
  return new StoreError('unavailable', explain(name, status), { cause: error });
}

function explain(name: unknown, status: number | undefined): string {
  if (REFUSED.has(name) || status === 401 || status === 403) {
    return 'The object storage refuses the credentials of the service.';
  }
  if (name === 'NoSuchBucket') return 'The object storage does not have the configured bucket.';
  if (status !== undefined && status < 500)
    return `The object storage refuses the request (status ${status}).`;
  return 'The object storage cannot be reached at the moment.';
}
