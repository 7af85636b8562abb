import type { SourceLocation } from '@svc/jsonl-v23';

/** One of several things that are wrong with a request, as the service names them. */
export interface FieldError extends SourceLocation {
  readonly message: string;
  readonly code?: string;
}

export interface ServiceErrorDetails {
  readonly status: number;
  readonly errors: readonly FieldError[];
  /** how many there are; `errors` has at most the first 100 */
  readonly errorsTotal: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** The service refused a request or failed; `code` is the stable code of its answer (docs/errors.md). */
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
