import type { Completion, RunError, TokenCounts } from '@svc/evaluation';
import type { ResponseHeaders } from './retry-delay.ts';

/** What an answer has cost, with or without a completion. */
export interface PaidAnswer {
  /** Null for what cannot be read. */
  readonly tokens: TokenCounts;
  /** As the provider reported it; null if it did not. */
  readonly usage: Completion['usage'];
}

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

/** An attempt with a completion. */
export interface CompletedAttempt {
  readonly statusCode: number;
  readonly completion: Omit<Completion, 'attempts'>;
}

/** The result of one attempt, and what its answer has cost; null without one. */
export type Attempt = (CompletedAttempt | FailedAttempt) & { readonly paid: PaidAnswer | null };
