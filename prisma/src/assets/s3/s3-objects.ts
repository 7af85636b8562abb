import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../database/errors.ts';
import type { AssetContent, ByteRange } from '../asset-store.ts';
import { createS3Client, type S3Client, type S3Location, type S3Timeouts } from './s3-client.ts';

/**
 * Objects of a bucket, by keys without its prefix. Every method throws StoreError `unavailable` when the server cannot be
 * reached, takes too long or refuses the credentials, and the signal's reason when it is aborted.
 */
export interface S3Objects {
  /** Stores an object, in place of an existing one. */
  put(key: string, content: AssetContent, signal?: AbortSignal): Promise<void>;
  /**
   * Reads bytes `start` to `end`, which is not included, as fast as they are pulled. A broken connection is resumed.
   *
   * @throws StoreError `asset_missing`
   */
  read(key: string, range: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, undefined>;
  /** Whether an object is there. */
  exists(key: string, signal?: AbortSignal): Promise<boolean>;
  /** Deletes an object; one that is not there is deleted already. */
  delete(key: string, signal?: AbortSignal): Promise<void>;
  close(): void;
}

interface S3ObjectsOptions extends Partial<S3Timeouts> {
  readonly location: S3Location;
  /** How long a read may wait for the next bytes. */
  readonly idleMs?: number;
  /** Before a read is resumed; each further time waits twice as long. */
  readonly retryDelayMs?: number;
}

const MAX_FAILURES = 3;
/** A read that got so far may fail as often again. */
const PROGRESS_BYTES = 256 * 1024;

/** Makes the objects; nothing is loaded or sent before they are used. */
export function createS3Objects(options: S3ObjectsOptions): S3Objects {
  const { location, connectMs = 5_000, responseMs = 15_000, idleMs = 30_000, retryDelayMs = 200 } = options;
  const client = createS3Client(location, { connectMs, responseMs });
  const keyOf = (name: string): string => location.prefix + name;
  const waitToRetry = (failures: number, signal: AbortSignal | undefined): Promise<unknown> =>
    sleep(retryDelayMs * 2 ** (failures - 1), undefined, signal === undefined ? {} : { signal });

  return {
    async put(name, content, signal) {
      try {
        await client.put(keyOf(name), content, signal);
      } catch (error) {
        signal?.throwIfAborted();
        throw toS3Error(error, name);
      }
    },

    async *read(name, { start, end }, signal) {
      let at = start;
      let failures = 0;
      let resumedAt = start;
      while (at < end) {
        try {
          for await (const chunk of readOnce(client, keyOf(name), { start: at, end }, idleMs, signal)) {
            at += chunk.byteLength;
            yield chunk;
          }
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof BodyError)) throw toS3Error(error, name);
          failures = at - resumedAt >= PROGRESS_BYTES ? 1 : failures + 1;
          resumedAt = at;
          if (failures === MAX_FAILURES) throw toS3Error(error.cause, name);
          await waitToRetry(failures, signal);
        }
      }
    },

    async exists(name, signal) {
      try {
        await client.head(keyOf(name), signal);
        return true;
      } catch (error) {
        signal?.throwIfAborted();
        const found = toS3Error(error, name);
        if (found.code === 'asset_missing') return false;
        throw found;
      }
    },

    async delete(name, signal) {
      try {
        await client.delete(keyOf(name), signal);
      } catch (error) {
        signal?.throwIfAborted();
        const found = toS3Error(error, name);
        if (found.code !== 'asset_missing') throw found;
      }
    },

    close: () => client.close(),
  };
}

/** A response that was interrupted, or paused for too long: the rest can be requested. */
class BodyError extends Error {}

async function* readOnce(
  client: S3Client,
  key: string,
  { start, end }: ByteRange,
  idleMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const body = await client.get(key, start, end, signal);
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let leftBytes = end - start;
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

/** What S3 and its SDK say of a failed request. */
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

/**
 * The error of the store for one of S3: `asset_missing` for an object that is not there, else `unavailable`. The message
 * holds no text of the server.
 */
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
