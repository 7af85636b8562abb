import type { Clock } from './clock.ts';
import { rateLimited } from './errors.ts';
import type { RequestContext, RequestKind } from './request.ts';
import type { ResponseHeaders } from './transport.ts';

/** What the hub says about the window that counted a request (draft-ietf-httpapi-ratelimit-headers). */
export interface RateLimit {
  /** Name of the window's bucket, such as `api` or `resolvers`. */
  readonly resource: string;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly limit: number | null;
  readonly windowSeconds: number | null;
}

/** Parses `RateLimit: "api";r=0;t=55` with `RateLimit-Policy: "fixed window";"api";q=500;w=300`; null if invalid. */
export function parseRateLimit(headers: ResponseHeaders): RateLimit | null {
  const match = /^\s*"([^"]*)"\s*;\s*r=(\d+)\s*;\s*t=(\d+)\s*$/.exec(headers.get('ratelimit') ?? '');
  if (match === null) return null;
  const [, resource = '', remaining, resetSeconds] = match;
  const policy = headers.get('ratelimit-policy') ?? '';
  const quota = /;\s*q=(\d+)/.exec(policy)?.[1];
  const window = /;\s*w=(\d+)/.exec(policy)?.[1];
  return {
    resource,
    remaining: Number(remaining),
    resetSeconds: Number(resetSeconds),
    limit: quota === undefined ? null : Number(quota),
    windowSeconds: window === undefined ? null : Number(window),
  };
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

  /** Closes the window of a bucket and token. */
  close(kind: RequestKind, { token }: RequestContext, untilMs: number): void {
    const key = windowKey(kind, token);
    const nowMs = this.#clock.nowMs();
    for (const [other, endMs] of this.#closedUntilMs) if (endMs < nowMs) this.#closedUntilMs.delete(other);
    if (key !== null) {
      this.#closedUntilMs.set(key, Math.max(untilMs, this.#closedUntilMs.get(key) ?? 0));
    }
  }

  /**
   * Waits until the window is open.
   * @throws HubError `hub_rate_limited` if that takes longer than the retry budget or the deadline allows
   */
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
