import { setTimeout as sleep } from 'node:timers/promises';
import { parseRetryAfter } from '@svc/hub-client/egress';

export type RequestPacer = ReturnType<typeof createRequestPacer>;

/** The turns of the requests of one run are evenly spaced: none is made up for, so that there is no burst after a pause. */
export function createRequestPacer(
  perMinute: number | null,
  nowMs: () => number = () => performance.now(),
  wait = (delayMs: number, signal: AbortSignal): Promise<unknown> => sleep(delayMs, undefined, { signal }),
) {
  const intervalMs = perMinute === null ? 0 : 60_000 / perMinute;
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    async turn(signal: AbortSignal): Promise<number> {
      signal.throwIfAborted();
      const startMs = nowMs();
      const turnMs = Math.max(startMs, nextMs);
      nextMs = turnMs + intervalMs;
      if (turnMs > startMs) await wait(turnMs - startMs, signal).catch(() => undefined);
      signal.throwIfAborted();
      return turnMs - startMs;
    },
  };
}

/** The first delay; each further one is twice as long, ... */
const FIRST_DELAY_MS = 500;
/** ... up to this. */
const MAX_DELAY_MS = 30_000;
/** The delays of one request together. A request that would wait longer fails, so that it does not hold its place. */
const MAX_WAIT_MS = 300_000;

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The delay before the next attempt: what the response asks for (`retry-after-ms` or `Retry-After`), else exponential
 * backoff with jitter between half and all of it, so that clients do not retry at the same time. Null if the request would
 * wait for more than five minutes in all.
 */
export function retryDelayMs(
  attempt: number,
  headers: ResponseHeaders,
  random: number,
  nowMs: number,
  waitedMs: number,
): number | null {
  const leftMs = MAX_WAIT_MS - waitedMs;
  const askedMs = askedDelayMs(headers, nowMs);
  if (askedMs !== undefined) {
    return askedMs > leftMs ? null : Math.min(leftMs, Math.round(askedMs * (1 + random / 10)));
  }
  const fullMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const delayMs = Math.ceil(fullMs * (0.5 + random / 2));
  return delayMs > leftMs ? null : delayMs;
}

function askedDelayMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const exact = single(headers['retry-after-ms']);
  if (exact !== undefined && /^\d{1,12}$/.test(exact)) return Number(exact);
  return parseRetryAfter(single(headers['retry-after']), nowMs) ?? undefined;
}

function single(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
