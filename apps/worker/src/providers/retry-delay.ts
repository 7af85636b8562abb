import { parseRetryAfter } from '@svc/hub-client/internal';

/** The first delay; each further one is twice as long ... */
const FIRST_DELAY_MS = 500;
/** ... up to this. */
const MAX_DELAY_MS = 30_000;
/** A provider that asks for a longer wait than this is as good as gone. */
const MAX_WAIT_MS = 300_000;

/** Headers by lower-case name, as Node gives them. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * How long to wait before a request is sent again: what the answer asks for (`retry-after-ms`, or
 * `Retry-After` of RFC 9110 section 10.2.3 as seconds or date), else twice as long each time, somewhere
 * between half and all of it so that many clients do not come back together. Null when the answer asks for
 * more than five minutes.
 *
 * @param attempt which try failed, from 1
 * @param random from 0 to 1
 */
export function retryDelayMs(
  attempt: number,
  headers: ResponseHeaders,
  random: number,
  nowMs: number,
): number | null {
  const askedMs = askedDelayMs(headers, nowMs);
  if (askedMs !== undefined) return askedMs > MAX_WAIT_MS ? null : Math.round(askedMs * (1 + random / 10));
  const fullMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.ceil(fullMs * (0.5 + random / 2));
}

function askedDelayMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const exact = single(headers['retry-after-ms']);
  if (exact !== undefined && /^\d{1,12}$/.test(exact)) return Number(exact);
  return parseRetryAfter(single(headers['retry-after']), nowMs) ?? undefined;
}

function single(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
