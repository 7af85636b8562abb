import { type Completion, RunError, type RunErrorCode } from '@svc/evaluation';
import type { Attempt, ReceivedResponse } from './attempt.ts';
import type { ResponseHeaders } from './retry-delay.ts';

/** What a response means: a completion, an error of the item, or one that ends the run; and whether to retry. */
export function classifyResponse(
  { statusCode, headers, body }: ReceivedResponse,
  {
    completion,
    errorCode,
    providerMessage,
  }: {
    readonly completion: Omit<Completion, 'attempts'> | null;
    readonly errorCode: string | null;
    /** What the provider says, without secrets. */
    readonly providerMessage: string | null;
  },
): Attempt {
  const description = describeResponse(statusCode, headers, body.byteLength);
  if (statusCode >= 200 && statusCode < 300) {
    if (completion !== null) return { statusCode, completion };
    const message = `The provider's response is not a completion: ${description}.`;
    return { statusCode, error: new RunError('provider_bad_response', message, { providerMessage }) };
  }
  if (statusCode < 400) {
    const message = 'The provider returned a redirect, which the worker does not follow.';
    return { statusCode, error: new RunError('provider_rejected', message, { endsRun: true }) };
  }
  const message = `The provider returned an error: ${description}${errorCode === null ? '' : `, ${errorCode}`}.`;
  const endsRun = (code: RunErrorCode): Attempt => ({
    statusCode,
    error: new RunError(code, message, { endsRun: true, providerMessage }),
  });
  const transient = (code: RunErrorCode): Attempt => ({
    statusCode,
    error: new RunError(code, message, { providerMessage }),
    retry: { headers },
  });
  if (statusCode === 401 || statusCode === 403) return endsRun('provider_unauthorized');
  if (statusCode === 404 || statusCode === 405) return endsRun('provider_not_found');
  if (statusCode === 402 || errorCode === 'insufficient_quota') return endsRun('provider_rejected');
  if (statusCode === 429) return transient('provider_rate_limited');
  if (statusCode >= 500 || statusCode === 408 || statusCode === 409 || statusCode === 425) {
    return transient('provider_unavailable');
  }
  return { statusCode, error: new RunError('provider_rejected', message, { providerMessage }) };
}

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
function describeResponse(statusCode: number, headers: ResponseHeaders, byteLength: number): string {
  const header = headers['content-type'];
  const type = (Array.isArray(header) ? header[0] : header)?.split(';', 1)[0]?.trim().toLowerCase();
  const name = type === undefined ? 'no type' : KNOWN_TYPES.has(type) ? type : 'another type';
  return `status ${statusCode}, ${name}, ${byteLength} bytes`;
}
