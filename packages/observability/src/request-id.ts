import { randomUUID } from 'node:crypto';

/** A new request id: the 32 lower-case hex digits of a random UUID (RFC 9562 section 5.4). */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/** The id is repeated in the response and in every log line. */
const MAX_REQUEST_ID_CHARS = 1_024;

/** Why a request is refused whose id is too long: 431 in Express. */
export class RequestIdError extends Error {
  override readonly name = 'RequestIdError';
  readonly code = 'request_id_too_long';
  readonly status = 431;
  readonly statusCode = 431;

  constructor(chars: number) {
    super(`X-Request-ID must have at most ${MAX_REQUEST_ID_CHARS} characters, got ${chars}.`);
  }
}

/**
 * The id of a request from its `X-Request-ID` header: the client's value unchanged, or a new one if the header is absent
 * or empty. Several headers count as one, as Node joins them (`a, b`).
 *
 * @throws RequestIdError if it has more than 1,024 characters
 */
export function acceptRequestId(header: string | undefined): string {
  if (header === undefined || header === '') return newRequestId();
  if (header.length > MAX_REQUEST_ID_CHARS) throw new RequestIdError(header.length);
  return header;
}
