import { RunError } from '@svc/evaluation';
import { HubError, type HubErrorCode } from '@svc/hub-client';
import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import { StoreError } from '@svc/store';

/** Errors of ours say what was wrong with what was asked; nothing of any other is told to anyone but the log. */
type KnownError = JsonlError | PackageError | HubError | StoreError | RunError;

function isKnown(error: unknown): error is KnownError {
  if (error instanceof StoreError) return error.code !== 'corrupt';
  return [JsonlError, PackageError, HubError, RunError].some((known) => error instanceof known);
}

/** The stable code of an error; `internal` for one that is a fault of ours. */
export function errorCode(error: unknown): string {
  return isKnown(error) ? error.code : 'internal';
}

const TRANSIENT: ReadonlySet<string> = new Set<HubErrorCode | 'internal'>([
  'internal',
  'hub_unavailable',
  'hub_timeout',
  'hub_rate_limited',
  'hub_bad_response',
]);

/** Whether the same work may succeed another time. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(errorCode(error));
}

/** An error as a job keeps it; `errors` says where. The API makes an error body of it. */
export type JobFailure = JsonObject & { readonly code: string; readonly message: string };

/** The error that ended a job, as the job keeps it. */
export function jobFailure(error: unknown): JobFailure {
  if (!isKnown(error)) {
    return { code: 'internal', message: 'Something went wrong on the side of the service', errors: [] };
  }
  const location = locationMembers(('location' in error ? error.location : undefined) ?? {});
  return {
    code: error.code,
    message: error.message,
    errors: Object.keys(location).length === 0 ? [] : [{ message: error.message, ...location }],
  };
}

function locationMembers({ file, line, column, path, row }: SourceLocation): JsonObject {
  const members = Object.entries({ file, line, column, path, row });
  return Object.fromEntries(members.filter((member) => member[1] !== undefined)) as JsonObject;
}
