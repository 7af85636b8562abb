/**
 * Parses `Retry-After`: seconds or an HTTP date (RFC 9110 section 10.2.3).
 *
 * @param nowMs milliseconds since the epoch
 * @returns milliseconds to wait, 0 for a date in the past; null if the header is absent or unreadable
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse accepts almost anything, "-5" too; an HTTP date always begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return null;
  const timestampMs = Date.parse(text);
  return Number.isNaN(timestampMs) ? null : Math.max(0, timestampMs - nowMs);
}
