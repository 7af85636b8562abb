import type { SourceLocation } from '@svc/jsonl-v23';

/** The codes of all errors; docs/errors.md explains each. */
export type HubErrorCode =
  | 'invalid_request'
  | 'invalid_split'
  | 'invalid_row'
  | 'column_not_found'
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

/** Facts that a caller may act on. */
export interface HubErrorDetails {
  /** What exists, for the codes of something that is missing. */
  readonly available?: readonly string[];
  /** How long to wait before the next attempt. */
  readonly retryAfterMs?: number;
  /** HTTP status of the hub's response. */
  readonly status?: number;
}

export interface HubErrorOptions {
  readonly location?: SourceLocation;
  readonly cause?: unknown;
  readonly details?: HubErrorDetails;
}

const HUB_ERROR: unique symbol = Symbol.for('@svc/hub-client.HubError');

/**
 * The error of this package. `code` is stable, `location` is the place in a file of the dataset, `details` are facts that
 * a caller may act on. The message is one sentence for people, without the location and without any token.
 */
export class HubError extends Error {
  /** Recognises the class of every installed copy of this package: a dependency may bring another version. */
  static override [Symbol.hasInstance](value: unknown): value is HubError {
    return typeof value === 'object' && value !== null && HUB_ERROR in value;
  }

  static {
    Object.defineProperty(HubError.prototype, HUB_ERROR, { value: true });
  }

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

/** The first names for a message, and how many more there are; `none` if there are none. */
export function listNames(names: readonly string[], maxNames: number = 20): string {
  if (names.length === 0) return 'none';
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return names.slice(0, maxNames).join(', ') + more;
}
