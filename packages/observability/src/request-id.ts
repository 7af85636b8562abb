import { randomUUID } from 'node:crypto';

/** A new request id: 32 lower-case hex digits, those of a random UUID (RFC 9562 section 5.4), which Node makes in stock. */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/**
 * The id of a request from its `X-Request-ID` header: the client's value unchanged, or a new one where the
 * header is absent or empty. Several headers are taken as Node joins them (`a, b`).
 */
export function acceptRequestId(header: string | undefined): string {
  return header === undefined || header === '' ? newRequestId() : header;
}
