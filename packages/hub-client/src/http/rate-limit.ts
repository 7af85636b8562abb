import { rateLimited } from './errors.ts';
import type { Clock, RequestContext, RequestKind } from './request.ts';
import type { ResponseHeaders } from './transport.ts';

/** What the hub says about the window that counted a request (draft-ietf-httpapi-ratelimit-headers). */
export interface RateLimit {
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Parses `RateLimit: "api";r=0;t=55`; null if invalid. */
export function parseRateLimit(headers: ResponseHeaders): RateLimit | null {
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
