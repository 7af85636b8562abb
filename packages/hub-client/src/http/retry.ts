import { parseRetryAfter } from './retry-after.ts';

/** Reads one header of an answer; names are lower case. */
export type HeaderReader = (name: string) => string | null | undefined;

/** What the hub says about the window that a request was counted in (draft-ietf-httpapi-ratelimit-headers). */
export interface RateLimit {
  /** Name of the window's bucket, such as `api` or `resolvers`. */
  resource: string;
  remaining: number;
  resetSeconds: number;
  limit: number | null;
  windowSeconds: number | null;
}

/** How often and how long one request is tried again. */
export interface RetryPolicy {
  /** Tries after the first one. */
  maxRetries: number;
  /** First backoff; it doubles with every failure. */
  baseDelayMs: number;
  maxDelayMs: number;
  /** How long one request is tried again, waits included. */
  budgetMs: number;
}

/** Half the delays of the hub's own client (1, 2, 4, 8, 8 s): people wait for an answer here. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 5,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  budgetMs: 60_000,
};

/** One failed try. `status` is null when no answer came: refused, reset, timed out or cut off. */
export interface FailedTry {
  /** Failures so far, this one not counted: 0 after the first try. */
  failures: number;
  status: number | null;
  header: HeaderReader;
  /** The time of day, for HTTP dates. */
  nowMs: number;
  /** Time the request still has; a wait that would not fit is not begun. */
  remainingMs: number;
  /** 0 to 1, for the jitter. */
  random: number;
}

export type RetryPlan =
  | { retry: true; delayMs: number; reason: 'rate_limit' | 'retry_after' | 'backoff' }
  | { retry: false; reason: 'not_retryable' | 'retries_used_up' | 'budget_used_up'; waitMs: number | null };

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Whether another try of the same request may end differently. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_STATUSES.has(status);
}

/**
 * Decides what follows a failed try: a delay, or the end with the wait that would have been needed.
 *
 * A 429 of a used-up window waits until the window's reset and a second more, another 429 and a 503 what
 * `Retry-After` says and a second more, everything else backs off exponentially with jitter.
 *
 * @example a 429 with `Retry-After: 42` and time left: `{ retry: true, delayMs: 43000, reason: 'retry_after' }`
 */
export function planRetry(tried: FailedTry, policy: RetryPolicy): RetryPlan {
  const { status } = tried;
  if (status !== null && !isRetryableStatus(status)) {
    return { retry: false, reason: 'not_retryable', waitMs: null };
  }
  const told = status === 429 || status === 503 ? toldWait(tried) : null;
  const delayMs = told?.delayMs ?? backoffMs(tried, policy);
  if (tried.failures >= policy.maxRetries) {
    return { retry: false, reason: 'retries_used_up', waitMs: told?.delayMs ?? null };
  }
  if (delayMs > tried.remainingMs) return { retry: false, reason: 'budget_used_up', waitMs: delayMs };
  return { retry: true, delayMs, reason: told?.reason ?? 'backoff' };
}

/** The wait that the answer itself asks for. Only a used-up window is the reason of a 429. */
function toldWait(tried: FailedTry): { delayMs: number; reason: 'rate_limit' | 'retry_after' } | null {
  const window = parseRateLimit(tried.header);
  if (tried.status === 429 && window?.remaining === 0) {
    return { delayMs: (window.resetSeconds + 1) * 1000, reason: 'rate_limit' };
  }
  const delayMs = parseRetryAfter(tried.header('retry-after'), tried.nowMs);
  if (delayMs === null) return null;
  return { delayMs: (Math.ceil(delayMs / 1000) + 1) * 1000, reason: 'retry_after' };
}

/** Half of the step is fixed, half is drawn, so that many clients do not come back at the same instant. */
function backoffMs(tried: FailedTry, policy: RetryPolicy): number {
  const step = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** tried.failures);
  return Math.round(step / 2 + (step / 2) * tried.random);
}

/** `RateLimit: "api";r=0;t=55` with `RateLimit-Policy: "fixed window";"api";q=500;w=300`; null when unreadable. */
export function parseRateLimit(header: HeaderReader): RateLimit | null {
  const match = /^\s*"([^"]*)"\s*;\s*r=(\d+)\s*;\s*t=(\d+)\s*$/.exec(header('ratelimit') ?? '');
  if (match === null) return null;
  const policy = header('ratelimit-policy') ?? '';
  const quota = /;\s*q=(\d+)/.exec(policy)?.[1];
  const window = /;\s*w=(\d+)/.exec(policy)?.[1];
  return {
    resource: match[1]!,
    remaining: Number(match[2]),
    resetSeconds: Number(match[3]),
    limit: quota === undefined ? null : Number(quota),
    windowSeconds: window === undefined ? null : Number(window),
  };
}
