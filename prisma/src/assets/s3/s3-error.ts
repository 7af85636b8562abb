import { StoreError } from '../../database/errors.ts';

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
export function toS3Error(error: unknown, key: string): StoreError {
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
