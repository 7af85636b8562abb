import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';
import { PackageError, type PackageErrorCode } from '@svc/pkg-format';
import type { TaskReply } from '../../concurrency/index.ts';

/** An error of content on its way between threads: structured cloning loses classes, so it is sent as its members. */
export type ContentFailure = { readonly message: string; readonly location: SourceLocation } & (
  | { readonly kind: 'jsonl'; readonly code: JsonlErrorCode }
  | { readonly kind: 'package'; readonly code: PackageErrorCode; readonly entry: string | undefined }
);

/** The reply to a task that threw this: a failure of its content, or the error of the code itself. */
export function failedReply(error: unknown): TaskReply<never, ContentFailure> {
  if (error instanceof PackageError) {
    const { code, message, location, entry } = error;
    return { kind: 'failed', failure: { kind: 'package', code, message, location, entry } };
  }
  if (!(error instanceof JsonlError)) return { kind: 'fault', error };
  const { code, message, location } = error;
  return { kind: 'failed', failure: { kind: 'jsonl', code, message, location } };
}

export function toContentError(failure: ContentFailure): Error {
  const { message, location } = failure;
  if (failure.kind === 'jsonl') return new JsonlError(failure.code, message, location);
  const { code, entry } = failure;
  return new PackageError(code, message, { location, ...(entry !== undefined && { entry }) });
}
