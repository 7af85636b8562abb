import type { ResponseHeaders } from './retry-delay.ts';

/** Media types that a message may name. */
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
 * Describes a response by status, type and length. It never quotes text: the author of a run chooses the server, and
 * must not read what only the worker can reach.
 */
export function describeResponse(statusCode: number, headers: ResponseHeaders, byteLength: number): string {
  const header = headers['content-type'];
  const type = (Array.isArray(header) ? header[0] : header)?.split(';', 1)[0]?.trim().toLowerCase();
  const name = type === undefined ? 'no type' : KNOWN_TYPES.has(type) ? type : 'another type';
  return `status ${statusCode}, ${name}, ${byteLength} bytes`;
}
