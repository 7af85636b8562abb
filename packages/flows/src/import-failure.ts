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
