import type { SourceLocation } from '@svc/jsonl-v23';

/** One of the errors that the service lists for a request. */
export interface FieldError extends SourceLocation {
  readonly message: string;
  readonly code?: string;
}

export interface ServiceErrorDetails {
  readonly status: number;
  readonly errors: readonly FieldError[];
  /** How many errors there are; `errors` has at most the first 100. */
  readonly errorsTotal: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** An error that the service returned, with its stable code (docs/errors.md). */
export class ServiceError extends Error implements ServiceErrorDetails {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly status: number;
  readonly errors: readonly FieldError[];
  readonly errorsTotal: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, details: ServiceErrorDetails) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.errors = details.errors;
    this.errorsTotal = details.errorsTotal;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}
