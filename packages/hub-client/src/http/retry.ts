import { parseRetryAfter } from '../egress/retry-after.ts';
import { HubError } from '../errors.ts';
import { RetryableError, rateLimited } from './errors.ts';
import type {
  Clock,
  RequestContext,
  RequesterDeps,
  RequestKind,
  RetryEvent,
  RetryPolicy,
} from './request.ts';
import type { ResponseHeaders } from './transport.ts';

/** Half the delays of the hub's own client (1, 2, 4, 8, 8 s), because people wait for previews. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 5,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  budgetMs: 60_000,
};

/** Three windows of the public hub. Whatever a response asks for, the client asks the hub again after this. */
const MAX_REQUESTED_DELAY_MS = 15 * 60_000;

export interface RetryDeps extends RequesterDeps {
  readonly rateLimits: RateLimitWindows;
}

export async function retry<T>(
  attempt: () => Promise<T>,
  context: RequestContext,
  deps: RetryDeps,
): Promise<T> {
  const sinceMs = deps.clock.nowMs();
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      await waitBeforeRetry(error, failures, sinceMs, context, deps);
    }
  }
}

/**
 * Repeats an attempt that yields until one reaches its end; each continues where the one before stopped. An attempt that
 * made progress before it failed counts as the first failure.
 */
export async function* retryStream<T>(
  attempt: () => AsyncGenerator<T, void, undefined>,
  madeProgress: () => boolean,
  context: RequestContext,
  deps: RetryDeps,
): AsyncGenerator<T, void, undefined> {
  let sinceMs = 0;
  for (let failures = 0; ; failures += 1) {
    try {
      return yield* attempt();
    } catch (error) {
      if (madeProgress()) failures = 0;
      // A long stream may fail late: its budget starts at its first failure.
      if (failures === 0) sinceMs = deps.clock.nowMs();
      await waitBeforeRetry(error, failures, sinceMs, context, deps);
    }
  }
}

/** Waits before the next attempt, or throws the error of the request if there is none. */
async function waitBeforeRetry(
  error: unknown,
  failures: number,
  sinceMs: number,
  context: RequestContext,
  { clock, rateLimits, onRetry }: RetryDeps,
): Promise<void> {
  if (!(error instanceof RetryableError)) throw error;
  context.signal?.throwIfAborted();
  const { kind, host, status = null, headers = { get: () => null } } = error.attempt;
  const { budgetMs } = context.retry;
  const nowMs = clock.nowMs();
  const untilMs = Math.min(sinceMs + budgetMs, context.deadlineMs ?? Number.POSITIVE_INFINITY);
  const remainingMs = untilMs - nowMs;
  const failed = { failures, status, headers, nowMs: clock.dateMs(), remainingMs, random: clock.random() };
  const plan = planRetry(failed, context.retry);
  const waitMs = plan.retry ? plan.delayMs : plan.waitMs;
  if (status === 429 && waitMs !== null) rateLimits.close(kind, context, nowMs + waitMs);
  if (!plan.retry) throw status === null ? error.error : withRetryAfter(error.error, waitMs);
  const { delayMs, reason } = plan;
  onRetry?.({ host, kind, status, code: error.error.code, failures: failures + 1, delayMs, reason });
  await clock.sleep(delayMs, context.signal);
}

function withRetryAfter(error: HubError, waitMs: number | null): HubError {
  if (waitMs === null) return error;
  const details = { ...error.details, retryAfterMs: waitMs };
  return new HubError(error.code, error.message, { cause: error.cause, details });
}

export interface FailedAttempt {
  /** Failures before this one: 0 after the first attempt. */
  readonly failures: number;
  /** Null if there was no complete response: refused, reset, timed out or cut off. */
  readonly status: number | null;
  readonly headers: ResponseHeaders;
  /** The time of day, for HTTP dates. */
  readonly nowMs: number;
  /** Time the request has left; a wait that does not fit is not started. */
  readonly remainingMs: number;
  /** 0 to 1, for the jitter. */
  readonly random: number;
}

export type RetryPlan =
  | ({ readonly retry: true } & Pick<RetryEvent, 'delayMs' | 'reason'>)
  | { readonly retry: false; readonly waitMs: number | null };

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_STATUSES.has(status);
}

/**
 * A 429 of a used-up window waits until the window's reset and a second more, another 429 and a 503 what
 * `Retry-After` says and a second more, neither more than 15 minutes, everything else backs off exponentially with jitter.
 */
export function planRetry(attempt: FailedAttempt, policy: RetryPolicy): RetryPlan {
  const { status } = attempt;
  const requested = status === 429 || status === 503 ? requestedDelay(attempt) : null;
  const delayMs = requested?.delayMs ?? backoffMs(attempt, policy);
  if (attempt.failures >= policy.maxRetries) return { retry: false, waitMs: requested?.delayMs ?? null };
  if (delayMs > attempt.remainingMs) return { retry: false, waitMs: delayMs };
  return { retry: true, delayMs, reason: requested?.reason ?? 'backoff' };
}

/** The delay that the response asks for. Only a used-up window explains a 429. */
function requestedDelay(attempt: FailedAttempt): Pick<RetryEvent, 'delayMs' | 'reason'> | null {
  const { status, headers, nowMs } = attempt;
  const window = parseRateLimit(headers);
  if (status === 429 && window?.remaining === 0) {
    return { delayMs: laterBy(window.resetSeconds * 1000), reason: 'rate_limit' };
  }
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), nowMs);
  return retryAfterMs === null ? null : { delayMs: laterBy(retryAfterMs), reason: 'retry_after' };
}

/** A second after the time that a response asks for, because clocks differ. */
function laterBy(requestedMs: number): number {
  return Math.min(requestedMs + 1000, MAX_REQUESTED_DELAY_MS);
}

/** Half of the step is fixed and half is random, so that many clients do not return at the same instant. */
function backoffMs({ failures, random }: FailedAttempt, policy: RetryPolicy): number {
  const step = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** failures);
  return Math.round(step / 2 + (step / 2) * random);
}

/**
 * What the hub says about the window that counted a request, such as `RateLimit: "api";r=0;t=55`
 * (draft-ietf-httpapi-ratelimit-headers); null if invalid.
 */
export function parseRateLimit(
  headers: ResponseHeaders,
): { readonly remaining: number; readonly resetSeconds: number } | null {
  const match = /^\s*"[^"]*"\s*;\s*r=(\d+)\s*;\s*t=(\d+)\s*$/.exec(headers.get('ratelimit') ?? '');
  return match === null ? null : { remaining: Number(match[1]), resetSeconds: Number(match[2]) };
}

/**
 * The windows of the hub that are used up. They are per user and bucket: while one is closed, no request of its bucket
 * and token is sent.
 */
export class RateLimitWindows {
  readonly #clock: Clock;
  /** Bucket and token → clock time at which the window opens. */
  readonly #closedUntilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(kind: RequestKind, { token }: RequestContext, untilMs: number): void {
    const key = windowKey(kind, token);
    const nowMs = this.#clock.nowMs();
    for (const [other, endMs] of this.#closedUntilMs) if (endMs < nowMs) this.#closedUntilMs.delete(other);
    if (key !== null) {
      this.#closedUntilMs.set(key, Math.max(untilMs, this.#closedUntilMs.get(key) ?? 0));
    }
  }

  /** @throws HubError `hub_rate_limited` if that takes longer than the retry budget or the deadline allows */
  async wait(kind: RequestKind, { token, retry, deadlineMs, signal }: RequestContext): Promise<void> {
    const key = windowKey(kind, token);
    const untilMs = key === null ? undefined : this.#closedUntilMs.get(key);
    if (key === null || untilMs === undefined) return;
    const nowMs = this.#clock.nowMs();
    const waitMs = untilMs - nowMs;
    if (waitMs > 0) {
      const remainingMs = Math.min(retry.budgetMs, (deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs);
      if (waitMs > remainingMs) {
        throw rateLimited(token, { retryAfterMs: waitMs });
      }
      await this.#clock.sleep(waitMs, signal);
    }
    if (this.#closedUntilMs.get(key) === untilMs) this.#closedUntilMs.delete(key);
  }
}

function windowKey(kind: RequestKind, token: string | undefined): string | null {
  if (kind === 'storage') return null;
  return `${kind === 'file' ? 'resolvers' : 'api'} ${token ?? ''}`;
}
