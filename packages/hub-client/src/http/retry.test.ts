import { describe, expect, it } from 'vitest';
import {
  type FailedAttempt,
  isRetryableStatus,
  parseRateLimit,
  planRetry as plan,
  type RetryPlan,
} from './retry.ts';
import type { ResponseHeaders } from './transport.ts';

const planRetry = (attempt: FailedAttempt): RetryPlan =>
  plan(attempt, { maxRetries: 5, baseDelayMs: 1000, maxDelayMs: 8000, budgetMs: 600_000 });

const headers = (values: Record<string, string>): ResponseHeaders => ({
  get: (name) => values[name] ?? null,
});

const failed = (over: Partial<FailedAttempt>): FailedAttempt => ({
  failures: 0,
  status: 429,
  headers: headers({}),
  nowMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  remainingMs: 600_000,
  random: 1,
  ...over,
});

describe('parseRateLimit', () => {
  it.each([
    [{ ratelimit: '"api";r=0;t=55' }, { remaining: 0, resetSeconds: 55 }],
    [{ ratelimit: ' "resolvers" ; r=2976 ; t=166 ' }, { remaining: 2976, resetSeconds: 166 }],
    [{ ratelimit: 'malformed' }, null],
    [{ ratelimit: '"api";r=-1;t=5' }, null],
    [{}, null],
  ])('%j', (values, expected) => {
    expect(parseRateLimit(headers(values as Record<string, string>))).toEqual(expected);
  });
});

describe('planRetry', () => {
  it.each([
    [
      'a used-up window waits for its reset and a second',
      { ratelimit: '"api";r=0;t=55' },
      56_000,
      'rate_limit',
    ],
    [
      'a window with room is not the reason, Retry-After is',
      { ratelimit: '"api";r=99794;t=241', 'retry-after': '42' },
      43_000,
      'retry_after',
    ],
    ['neither: the backoff', { ratelimit: '"api";r=99794;t=241' }, 1000, 'backoff'],
    ['no header: the backoff', {}, 1000, 'backoff'],
  ])('429, %s', (_name, values, delayMs, reason) => {
    expect(planRetry(failed({ headers: headers(values as Record<string, string>) }))).toEqual({
      retry: true,
      delayMs,
      reason,
    });
  });

  it.each([408, 500, 502, 503, 504, null])('%s is tried again', (status) => {
    expect(planRetry(failed({ status }))).toMatchObject({ retry: true, delayMs: 1000 });
  });

  it('503 with Retry-After waits that long, 500 does not look at it', () => {
    const hub = headers({ 'retry-after': '7' });
    expect(planRetry(failed({ status: 503, headers: hub }))).toMatchObject({ delayMs: 8000 });
    expect(planRetry(failed({ status: 500, headers: hub }))).toMatchObject({ delayMs: 1000 });
  });

  it.each([400, 401, 403, 404, 416, 501])('%d is final', (status) => {
    expect(isRetryableStatus(status)).toBe(false);
  });

  it('backs off 1, 2, 4, 8, 8 seconds at most, half of it at least, then stops', () => {
    const delays = (random: number) =>
      [0, 1, 2, 3, 4].map((failures) => planRetry(failed({ status: 500, failures, random })));
    expect(delays(1).map((plan) => plan.retry && plan.delayMs)).toEqual([1000, 2000, 4000, 8000, 8000]);
    expect(delays(0).map((plan) => plan.retry && plan.delayMs)).toEqual([500, 1000, 2000, 4000, 4000]);
    expect(planRetry(failed({ status: 500, failures: 5 }))).toEqual({
      retry: false,
      waitMs: null,
    });
  });

  it('does not begin a wait that the budget does not hold, and says how long it would be', () => {
    const hub = headers({ 'retry-after': '42' });
    expect(planRetry(failed({ headers: hub, remainingMs: 42_999 }))).toEqual({
      retry: false,
      waitMs: 43_000,
    });
    expect(planRetry(failed({ headers: hub, remainingMs: 43_000 }))).toMatchObject({ retry: true });
  });

  it('keeps the wait that was asked for when the tries are used up', () => {
    const hub = headers({ 'retry-after': '42' });
    expect(planRetry(failed({ headers: hub, failures: 5 }))).toEqual({
      retry: false,
      waitMs: 43_000,
    });
  });
});
