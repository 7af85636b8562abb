import { HubError, type HubErrorCode } from '@svc/hub-client';
import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import { RunError } from '@svc/service/evaluation';
import { type ImportError, ImportErrors, UploadError } from '@svc/service/flows';
import { StoreError } from '@svc/service/store';

type KnownError =
  | ImportErrors<ImportError>
  | UploadError
  | JsonlError
  | PackageError
  | HubError
  | StoreError
  | RunError;

function isKnown(error: unknown): error is KnownError {
  if (error instanceof StoreError) return error.code !== 'corrupt';
  return [ImportErrors, UploadError, JsonlError, PackageError, HubError, RunError].some(
    (known) => error instanceof known,
  );
}

export function errorCode(error: unknown): string {
  return isKnown(error) ? error.code : 'internal';
}

export function isStoreError(error: unknown, ...codes: readonly StoreError['code'][]): error is StoreError {
  return error instanceof StoreError && codes.includes(error.code);
}

const TRANSIENT: ReadonlySet<string> = new Set<HubErrorCode | 'internal'>([
  'internal',
  'hub_unavailable',
  'hub_timeout',
  'hub_rate_limited',
  'hub_bad_response',
]);

export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(errorCode(error));
}

/** An error as a job stores it, with its locations in `errors`. The API turns it into an error body. */
export type JobFailure = JsonObject & { readonly code: string; readonly message: string };

export function jobFailure(error: unknown): JobFailure {
  if (!isKnown(error)) {
    return { code: 'internal', message: 'Internal error.', errors: [] };
  }
  const { code, message } = error;
  if (error instanceof ImportErrors) {
    return { code, message, errors: error.errors.flatMap(locate), errors_total: error.total };
  }
  return { code, message, errors: locate(error) };
}

function locate(error: Exclude<KnownError, ImportErrors<ImportError>> | ImportError): JsonObject[] {
  const location = locationMembers(('location' in error ? error.location : undefined) ?? {});
  const { code, message } = error;
  return Object.keys(location).length === 0 ? [] : [{ code, message, ...location }];
}

function locationMembers({ file, line, column, path, row }: SourceLocation): JsonObject {
  const members = Object.entries({ file, line, column, path, row });
  return Object.fromEntries(members.filter((member) => member[1] !== undefined)) as JsonObject;
}
