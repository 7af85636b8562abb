import { addAbortSignal, type Readable } from 'node:stream';
import type { S3Client as SdkClient } from '@aws-sdk/client-s3';
import type { AssetContent } from '../asset-store.ts';

/** Where objects are kept: a bucket, and how their keys begin. */
export interface S3Location {
  readonly bucket: string;
  /** Empty, or a text that ends with a slash. */
  readonly prefix: string;
  /** Endpoint of a server other than Amazon's; null for the one that the SDK finds in its own variables. */
  readonly endpoint: string | null;
  readonly region: string | null;
}

/** The requests that the service sends to S3: one each, which the SDK repeats while the server is busy or does not answer. */
export interface S3Client {
  /** Stores an object, whose hash in lower-case hex the server checks. */
  put(key: string, content: AssetContent, signal: AbortSignal | undefined): Promise<void>;
  /** Bytes `start` to `end`, which is not included, and perhaps more. The caller destroys the stream. */
  get(key: string, start: number, end: number, signal: AbortSignal | undefined): Promise<Readable>;
  /** Asks whether an object is there, without its bytes. */
  head(key: string, signal: AbortSignal | undefined): Promise<void>;
  delete(key: string, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

/** How long S3 may take. */
export interface S3Timeouts {
  readonly connectMs: number;
  /** From a request to the headers of its response; an upload has more time, by its size. */
  readonly responseMs: number;
}

/** Uploads that are slower than this are given up. */
const MIN_UPLOAD_BYTES_PER_MS = 64;
const MAX_ATTEMPTS = 3;

type Sdk = typeof import('@aws-sdk/client-s3');

/**
 * Makes a client. The SDK, which takes long to load, is imported with the first request; it takes credentials and region
 * from its default chain.
 */
export function createS3Client(location: S3Location, timeouts: S3Timeouts): S3Client {
  const { bucket: Bucket } = location;
  let loading: Promise<{ readonly sdk: Sdk; readonly client: SdkClient }> | undefined;
  const load = (): Promise<{ readonly sdk: Sdk; readonly client: SdkClient }> => {
    loading ??= import('@aws-sdk/client-s3').then((sdk) => ({
      sdk,
      client: new sdk.S3Client(settings(location, timeouts)),
    }));
    return loading;
  };

  return {
    async put(key, { sha256, bytes }, signal) {
      const { sdk, client } = await load();
      const command = new sdk.PutObjectCommand({ Bucket, Key: key, Body: bytes });
      // The hash is known, and the server compares it with what arrives, also where the connection is encrypted.
      command.middlewareStack.add(
        (next) => async (args) => {
          (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256;
          return await next(args);
        },
        { step: 'build', name: 'contentHash' },
      );
      const requestTimeout = timeouts.responseMs + Math.ceil(bytes.byteLength / MIN_UPLOAD_BYTES_PER_MS);
      await client.send(command, { ...abortable(signal), requestTimeout });
    },

    async get(key, start, end, signal) {
      const { sdk, client } = await load();
      const command = new sdk.GetObjectCommand({ Bucket, Key: key, Range: `bytes=${start}-${end - 1}` });
      const { Body, ContentRange } = await client.send(command, abortable(signal));
      const body = Body as Readable;
      // A server may send more than it was asked for, but not from elsewhere.
      if (start > 0 && ContentRange?.startsWith(`bytes ${start}-`) !== true) {
        body.destroy();
        throw new Error('The server ignored the range of the request.');
      }
      return signal === undefined ? body : addAbortSignal(signal, body);
    },

    async head(key, signal) {
      const { sdk, client } = await load();
      await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }), abortable(signal));
    },

    async delete(key, signal) {
      const { sdk, client } = await load();
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }), abortable(signal));
    },

    close() {
      void loading?.then(({ client }) => client.destroy());
    },
  };
}

const abortable = (signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } =>
  signal === undefined ? {} : { abortSignal: signal };

function settings({ endpoint, region }: S3Location, { connectMs, responseMs }: S3Timeouts): object {
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
