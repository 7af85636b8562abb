import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';

/** How an import ended that has no dataset. */
export interface ImportFailure {
  readonly outcome: 'failed' | 'cancelled';
  /** The stable error code. */
  readonly code: string;
}

/** How to report an error of an import within a request; one whose request has ended is cancelled. */
export function requestFailure(error: unknown, signal: AbortSignal): ImportFailure {
  const { code } = error as { code?: unknown };
  return {
    outcome: signal.aborted ? 'cancelled' : 'failed',
    code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
  };
}

/** Where an error of an import is, for the log. */
export function placeOf(error: unknown): string | undefined {
  const { location } = error as { location?: SourceLocation };
  return location === undefined ? undefined : formatLocation(location) || undefined;
}

/** An import or change whose end is to be reported. */
export interface Observed<T> {
  finished(done: T): void;
  /** @param error logged with its place */
  failed(error: unknown, failure: ImportFailure): void;
}
