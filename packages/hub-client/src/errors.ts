import type { SourceLocation } from '@svc/jsonl-v23';

/** Every way in which reading a hub dataset fails; docs/errors.md explains each. */
export type HubErrorCode =
  | 'invalid_request'
  | 'invalid_split'
  | 'invalid_row'
  | 'hub_dataset_not_found'
  | 'hub_revision_not_found'
  | 'hub_split_not_found'
  | 'hub_subset_not_found'
  | 'hub_gated'
  | 'hub_unsupported_dataset'
  | 'hub_unavailable'
  | 'hub_bad_response'
  | 'hub_rate_limited'
  | 'hub_timeout';

/** Facts beside the message that a caller may act on. */
export interface HubErrorDetails {
  /** What there is instead, for the codes that say what is missing. */
  available?: readonly string[];
  /** How long to wait before another try. */
  retryAfterMs?: number;
  /** HTTP status the hub answered with. */
  status?: number;
}

export interface HubErrorOptions {
  location?: SourceLocation;
  cause?: unknown;
  details?: HubErrorDetails;
}

/**
 * The one error of this package. `code` is stable, `place` is where in a file of the dataset it happened,
 * `details` what a caller may act on. The message is one sentence for people; it holds no place and never a token.
 */
export class HubError extends Error {
  readonly code: HubErrorCode;
  readonly location: SourceLocation | undefined;
  readonly details: HubErrorDetails;

  constructor(code: HubErrorCode, message: string, options: HubErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HubError';
    this.code = code;
    this.location = options.location;
    this.details = options.details ?? {};
  }
}
