import { randomUUID } from 'node:crypto';

/** A new request id: 32 lower-case hex digits, those of a random UUID (RFC 9562 section 5.4), which Node makes in stock. */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/** What a client may have repeated to it and written into the log with every line. */
const MAX_LENGTH = 128;

/**
 * The id of a request from its `X-Request-ID` header: the client's value unchanged, or a new one where the
 * header is absent, empty or longer than 128 characters. Several headers are taken as Node joins them (`a, b`).
 */
export function acceptRequestId(header: string | undefined): string {
  return header === undefined || header === '' || header.length > MAX_LENGTH ? newRequestId() : header;
}
