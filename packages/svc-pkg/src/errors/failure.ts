import type { Writable } from 'node:stream';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import { ImportErrors, type LocatedError } from '@svc/jsonl-v23/imports';
import { PackageError } from '@svc/pkg-format';
import { writeText } from '../output/print.ts';
import { printableJson, printableText } from '../text/format.ts';
import { CliError, EXIT, exitCodeOf, isSystemError, ServiceError } from './cli-error.ts';

/** An error as this program reports it, with the details of a response, or the first errors of several. */
export interface Failure extends Partial<ServiceError['details']> {
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
  readonly exitCode: number;
  readonly hint?: string;
}

/** What to report for anything that was thrown. An error without a stable `code` is an internal error. */
export function toFailure(error: unknown): Failure {
  if (isBrokenPipe(error)) {
    return { code: 'broken_pipe', message: 'Broken pipe', location: {}, exitCode: EXIT.brokenPipe };
  }
  if (isSystemError(error)) {
    const location = error.path === undefined ? {} : { file: error.path };
    return classify('io_error', new CliError('io_error', error.message, { location }));
  }
  if (error instanceof ServiceError) return { ...classify(error.code, error), ...error.details };
  if (error instanceof ImportErrors) return withErrors(error, error.total);
  if (error instanceof PackageError && error.errorsTotal > 1) return withErrors(error, error.errorsTotal);
  if (error instanceof CliError) {
    const { errors, hint } = error;
    return { ...classify(error.code, error), errors, errorsTotal: errors.length, ...(hint && { hint }) };
  }
  if (error instanceof Error && 'code' in error && /^[a-z][a-z0-9_]*$/.test(String(error.code))) {
    return classify(String(error.code), error);
  }
  const message = error instanceof Error ? error.message : String(error);
  return classify('fault', new CliError('fault', `Unexpected error: ${message}`));
}

function withErrors(
  error: LocatedError & { readonly errors: readonly LocatedError[] },
  errorsTotal: number,
): Failure {
  const errors = error.errors.map(({ code, message, location }) => ({ code, message, ...location }));
  return { ...classify(error.code, error), errors, errorsTotal };
}

function classify(code: string, error: Error & { location?: unknown }): Failure {
  const location =
    typeof error.location === 'object' && error.location !== null ? (error.location as SourceLocation) : {};
  return { code, message: error.message, location, exitCode: exitCodeOf(code) };
}

/** A write to a pipe or socket that its reader closed. */
function isBrokenPipe(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  if (error.code === 'ERR_STREAM_DESTROYED') return true;
  return error.code === 'EPIPE' && 'syscall' in error && error.syscall === 'write';
}

/** `file:line:column: message (code)`, which editors and terminals turn into links; `fallback` stands for no file. */
export function errorLine(
  error: { readonly location: SourceLocation; readonly message: string; readonly code?: string | undefined },
  fallback = 'svc-pkg',
): string {
  const { message, code } = error;
  const { path, ...position } = error.location;
  const where = formatLocation(position) || fallback;
  const pointer = path === undefined || path === '' || message.includes(path) ? '' : ` at ${path}`;
  const suffix = code === undefined ? '' : ` (${code})`;
  return printableText(`${where}: ${message.replace(/\.$/, '')}${pointer}${suffix}`);
}

/** Prints how a command failed: lines for people, or one JSON document. Prints nothing for a broken pipe. */
export async function printError(
  stderr: Writable,
  failure: Failure,
  options: { readonly json: boolean; readonly program?: string; readonly hint?: string },
): Promise<void> {
  if (failure.code === 'broken_pipe') return;
  const text = options.json
    ? `${printableJson(JSON.stringify({ error: errorDocument(failure) }))}\n`
    : errorText(failure, options);
  // If standard error is closed, the exit code has to do.
  await writeText(stderr, text).catch(() => undefined);
}

function errorText(
  failure: Failure,
  { program, hint }: { readonly program?: string; readonly hint?: string },
): string {
  const { status = 0, requestId, retryAfterSeconds, errors = [], errorsTotal = errors.length } = failure;
  const details = errors.map(({ message, code, count, ...location }) => ({
    message: count === undefined ? message : `${count} x ${message}`,
    // The code of a response belongs to its first error; it gives none for the others.
    code: code ?? (message === failure.message ? failure.code : undefined),
    location,
  }));
  const [first] = details;
  // The failure is the first of the errors, in a response perhaps without its location.
  const isRepeated = first?.message === failure.message;
  // A failure that ends with its only error says all of it, unless the error is somewhere in a file.
  const isSaid =
    details.length === 1 && failure.message.endsWith(first?.message ?? '') && !first?.location.file;
  const told = isRepeated ? details : isSaid ? [failure] : [failure, ...details];
  const lines = told.map((line) => errorLine(line, program));
  const more = errorsTotal - details.length;
  if (more > 0) lines.push(`  ... and ${more} more`);
  if (retryAfterSeconds !== undefined) lines.push(`  Try again in ${retryAfterSeconds} s.`);
  if (status >= 500 && requestId !== undefined) lines.push(`  Request ID: ${printableText(requestId)}`);
  if (hint !== undefined) lines.push(hint);
  return `${lines.join('\n')}\n`;
}

function errorDocument(failure: Failure): Record<string, unknown> {
  const { code, message, location, exitCode, status, errors = [], errorsTotal } = failure;
  return {
    code,
    message,
    exit_code: exitCode,
    ...location,
    ...{ status, request_id: failure.requestId, retry_after_seconds: failure.retryAfterSeconds },
    ...(errors.length > 0 && { errors, errors_total: errorsTotal }),
  };
}
