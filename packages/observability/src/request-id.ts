import { randomUUID } from 'node:crypto';

/** A new request id: the 32 lower-case hex digits of a random UUID (RFC 9562 section 5.4). */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/** The id is repeated in the response and in every log line. */
const MAX_LENGTH = 128;

/**
 * The id of a request from its `X-Request-ID` header: the client's value unchanged, or a new one if the header is
 * absent, empty or longer than 128 characters. Several headers count as one, as Node joins them (`a, b`).
 */
export function acceptRequestId(header: string | undefined): string {
  return header === undefined || header === '' || header.length > MAX_LENGTH ? newRequestId() : header;
}
