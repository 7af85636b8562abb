import type { IncomingMessage } from 'node:http';

/** Whether the request has a body (RFC 9112 section 6.3) that has not ended. */
export function awaitsBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
