import { randomBytes } from 'node:crypto';

/** A new request id: 32 lower-case hex digits, 128 random bits. */
export function newRequestId(): string {
  return randomBytes(16).toString('hex');
}

/**
 * The id of a request from its `X-Request-ID` header: the client's value unchanged, or a new one where the
 * header is absent or empty. Several headers are taken as Node joins them (`a, b`).
 */
export function acceptRequestId(header: string | undefined): string {
  return header === undefined || header === '' ? newRequestId() : header;
}
