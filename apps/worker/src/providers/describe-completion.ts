import type { ResponseHeaders } from './retry-delay.ts';

/** Media types that are named. What a server says of itself beyond these is not repeated. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/octet-stream',
  'application/problem+json',
  'application/x-ndjson',
  'application/xml',
  'text/event-stream',
  'text/html',
  'text/plain',
  'text/xml',
]);

/**
 * An answer that is no completion, by status, type and length. Its text is never quoted: whoever starts a run chooses
 * who is asked, and must not read what only the worker can reach.
 */
export function describeCompletion(statusCode: number, headers: ResponseHeaders, byteLength: number): string {
  const header = headers['content-type'];
  const type = (Array.isArray(header) ? header[0] : header)?.split(';', 1)[0]?.trim().toLowerCase();
  const name = type === undefined ? 'no type' : KNOWN_TYPES.has(type) ? type : 'another type';
  return `status ${statusCode}, ${name}, ${byteLength} bytes`;
}
