import type { IncomingMessage } from 'node:http';

/** Whether more of a request may come: it has a body (RFC 9112 section 6.3), and that has not ended. */
export function awaitsBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
