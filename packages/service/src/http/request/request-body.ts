import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { RequestError } from './request-error.ts';

/** Whether the request has a body (RFC 9112 section 6.3) that has not ended. */
export function awaitsBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Checks that a request has a body of a media type, and that it is not compressed.
 *
 * @param types as `type-is` takes them; the error names the whole ones
 * @throws RequestError `unsupported_media_type`; `invalid_request` for a request without a body
 */
export function checkMediaType(request: Request, types: readonly [string, ...string[]]): void {
  const type = request.get('content-type');
  const matched = request.is([...types]);
  if (matched === null && type !== undefined) {
    throw new RequestError('invalid_request', 'The request must have a body.');
  }
  if (!matched) {
    const got = JSON.stringify(type ?? 'nothing');
    const named = types.filter((name) => name.includes('/'));
    const taken = [named.slice(0, -1).join(', '), named.at(-1)].filter(Boolean).join(' or ');
    throw new RequestError('unsupported_media_type', `The body must be ${taken}, got ${got}.`);
  }
  if (!['identity', undefined].includes(request.get('content-encoding')?.toLowerCase())) {
    throw new RequestError('unsupported_media_type', 'Content-Encoding is not supported.');
  }
}
