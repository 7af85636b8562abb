import type { SourceLocation } from '@svc/jsonl-v23';
import { ImportErrors, type LocatedError } from '@svc/jsonl-v23/internal';
import { PackageError } from '@svc/pkg-format';
import { type FieldError, ServiceError } from '../service/client/service-error.ts';
import { CliError } from './cli-error.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { isSystemError } from './file-error.ts';

/** An error as this program reports it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
  readonly exitCode: ExitCode;
  /** The single errors where several were looked for, the first 100. */
  readonly errors?: readonly (FieldError & { readonly count?: number })[];
  readonly errorsTotal?: number;
  /** Names the next command. */
  readonly hint?: string;
  /** What the service returned in addition to its message. */
  readonly response?: {
    readonly status: number;
    readonly requestId: string | undefined;
    readonly retryAfterSeconds: number | undefined;
  };
}

/**
 * What to report for anything that was thrown. Errors of the packages have a stable `code` and perhaps a `location`; an
 * error without a code is an internal error.
 */
export function toFailure(error: unknown): Failure {
  if (isBrokenPipe(error)) {
    return { code: 'broken_pipe', message: 'Broken pipe', location: {}, exitCode: EXIT.brokenPipe };
  }
  if (isSystemError(error)) {
    const cliError = new CliError('io_error', error.message);
    return {
      ...classify(cliError.code, cliError),
      location: error.path === undefined ? {} : { file: error.path },
    };
  }
  if (error instanceof ServiceError) {
    const { status, errors, errorsTotal, requestId, retryAfterSeconds } = error;
    return {
      ...classify(error.code, error),
      errors,
      errorsTotal,
      response: { status, requestId, retryAfterSeconds },
    };
  }
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
