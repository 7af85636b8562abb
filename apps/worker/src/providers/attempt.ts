import type { Completion, RunError } from '@svc/evaluation';
import type { ResponseHeaders } from './retry-delay.ts';

/** A response with its whole body. */
export interface ReceivedResponse {
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
}

/** An attempt without a completion. */
export interface FailedAttempt {
  /** Null without a response. */
  readonly statusCode: number | null;
  readonly error: RunError;
  /** For the log, instead of the code of the error. */
  readonly reason?: string;
  /** Set if another attempt may succeed. */
  readonly retry?: { readonly headers: ResponseHeaders };
}

/** The result of one attempt. */
export type Attempt =
  | { readonly statusCode: number; readonly completion: Omit<Completion, 'attempts'> }
  | FailedAttempt;
