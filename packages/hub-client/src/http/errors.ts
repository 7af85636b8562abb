import { shorten } from '@svc/tabular';
import { ProxyError } from '../egress/proxy-error.ts';
import { HubError, type HubErrorCode, type HubErrorDetails } from '../errors.ts';
import type { HubResponse, RequestContext, RequestKind, Subject } from './request.ts';
import type { ResponseHeaders } from './transport.ts';

const MAX_ERROR_BODY_BYTES = 16 * 1024;

/** A failed attempt that may succeed when it is repeated. */
export class RetryableError extends Error {
  /** The error of the request if there is no further attempt. */
  readonly error: HubError;
  /** Without status and headers if there was no complete response. */
  readonly attempt: { kind: RequestKind; host: string; status?: number; headers?: ResponseHeaders };

  constructor(error: HubError, attempt: RetryableError['attempt']) {
    super(error.message, { cause: error });
    this.name = 'RetryableError';
    this.error = error;
    this.attempt = attempt;
  }
}

/** The error for a used-up limit of the hub, which is lower without a token. */
export function rateLimited(token: string | undefined, details: HubErrorDetails): HubError {
  const advice = token === undefined ? ' Send a token, or set HUB_TOKEN, for a higher limit.' : '';
  return new HubError('hub_rate_limited', `The hub limits the rate of requests.${advice}`, { details });
}

export async function errorOfResponse(
  response: HubResponse,
  { subject, token, signal }: RequestContext,
): Promise<HubError> {
  const { status, headers, fromHub } = response;
  let body = '';
  try {
    body = new TextDecoder().decode(await response.bytes(MAX_ERROR_BODY_BYTES));
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof HubError || error instanceof RetryableError)) throw error;
  }
  const message = headers.get('x-error-message') ?? bodyMessage(headers.get('content-type'), body);
  if (!fromHub) return storageError(status, subject);
  if (status === 429) return rateLimited(token, { status });
  return hubError(status, headers.get('x-error-code'), message, subject);
}

function storageError(status: number, subject: Subject): HubError {
  const details = { status };
  const file = shorten(subject.file ?? '');
  if (status === 429) {
    return new HubError('hub_rate_limited', 'The file storage of the hub limits the rate of requests.', {
      details,
    });
  }
  const code = status >= 500 ? 'hub_unavailable' : 'hub_bad_response';
  const reason = `the file storage of the hub ${status >= 500 ? 'failed' : 'refused it'} with status ${status}`;
  return new HubError(code, `Cannot read ${file}: ${reason}.`, { details });
}

/**
 * Names the reason of an error response of the hub itself: by `X-Error-Code`, then by the message, then by the status, in
 * the order of the hub's own client. A 401 means "missing or private", never that our caller is unauthenticated.
 */
function hubError(status: number, errorCode: string | null, message: string, subject: Subject): HubError {
  const dataset = shorten(subject.dataset);
  const make = (code: HubErrorCode, text: string): HubError =>
    new HubError(code, text, { details: { status } });
  if (errorCode === 'RevisionNotFound') return make('hub_revision_not_found', `${unknownRevision(subject)}.`);
  if (errorCode === 'EntryNotFound') {
    const file = shorten(subject.file ?? '');
    return make('hub_bad_response', `The hub lists ${file} in ${dataset} but does not have it.`);
  }
  if (errorCode === 'GatedRepo') {
    return make(
      'hub_gated',
      status === 401
        ? `Dataset ${dataset} is gated: send the token of an account that was granted access.`
        : `Dataset ${dataset} is gated, and the account of the token was not granted access.`,
    );
  }
  if (status === 403 && /access to this resource is disabled/i.test(message)) {
    return make('hub_gated', `The hub has disabled dataset ${dataset}.`);
  }
  if (status === 401 && /invalid credentials/i.test(message)) {
    const reason = 'the hub does not accept the token (mistyped, revoked or expired)';
    return make('hub_dataset_not_found', `Cannot read dataset ${dataset}: ${reason}.`);
  }
  if (errorCode === 'RepoNotFound' || status === 401 || status === 404) {
    return make('hub_dataset_not_found', `Dataset ${dataset} does not exist on the hub, or is private.`);
  }
  if (status === 403 || status === 451) {
    return make('hub_gated', `The hub refuses access to dataset ${dataset}${quoted(message)}.`);
  }
  if (status === 408 || status === 504)
    return make('hub_timeout', `The hub responded with status ${status}.`);
  if (status >= 500) return make('hub_unavailable', `The hub responded with status ${status}.`);
  return make('hub_bad_response', `The hub refused the request with status ${status}${quoted(message)}.`);
}

/** The sentence for a revision that the repository does not have, without its full stop. */
export function unknownRevision(subject: Subject): string {
  return `Dataset ${shorten(subject.dataset)} has no revision ${shorten(subject.revision ?? '')}`;
}

/** Codes of the runtime for a connection that timed out; all others mean that it broke or was refused. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

export function transportError(cause: unknown, host: string): HubError {
  let code = '';
  let isHttp = true;
  let proxy: string | null = null;
  for (let error = cause; error instanceof Error; error = error.cause) {
    code ||= String((error as { code?: unknown }).code ?? '');
    if (error.name === 'HTTPParserError') isHttp = false;
    if (error instanceof ProxyError) ({ proxy } = error);
  }
  if (TIMEOUT_CODES.has(code)) {
    const silent = proxy === null ? host : `The proxy ${proxy}`;
    return new HubError('hub_timeout', `${silent} did not respond in time.`, { cause });
  }
  if (!isHttp) return new HubError('hub_bad_response', `${host} did not respond with HTTP.`, { cause });
  const missing = proxy === null ? host : `the proxy ${proxy}`;
  return new HubError('hub_unavailable', `Cannot reach ${missing}, or it closed the connection.`, { cause });
}

function quoted(message: string): string {
  return message === '' ? '' : `: ${shorten(message, 200)}`;
}

/** The message of an error body: `{"error": "..."}`, a list of them, `{"errors": [{"message"}]}`, or plain text. */
function bodyMessage(contentType: string | null, body: string): string {
  if (/json/i.test(contentType ?? '')) {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return '';
    }
    if (typeof value !== 'object' || value === null) return '';
    const { error, errors, error_description: description } = value as Record<string, unknown>;
    for (const candidate of [error, errors, description]) {
      const texts = (Array.isArray(candidate) ? candidate : [candidate])
        .map((entry: unknown) =>
          typeof entry === 'object' && entry !== null ? (entry as { message?: unknown }).message : entry,
        )
        .filter((entry): entry is string => typeof entry === 'string');
      if (texts.length > 0) return texts.join('; ');
    }
    return '';
  }
  return /html/i.test(contentType ?? '') ? '' : body.trim();
}
