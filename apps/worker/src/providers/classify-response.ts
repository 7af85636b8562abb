import {
  type Completion,
  type ProviderResponse,
  RunError,
  type RunErrorCode,
  type TokenCounts,
} from '@svc/service/evaluation';
import type { ResponseHeaders } from './request-timing.ts';

/** An error in the body counts whatever the status is. */
export function classifyResponse(
  { statusCode, headers, body }: ReceivedResponse,
  {
    completion,
    failure,
    providerMessage,
  }: Pick<ProviderResponse, 'completion' | 'failure'> & {
    /** What the provider says, without secrets. */
    readonly providerMessage: string | null;
  },
): FailedAttempt | CompletedAttempt {
  const description = describeResponse(statusCode, headers, body.byteLength);
  const isGood = isGoodStatus(statusCode);
  if (isGood && failure === null) {
    if (completion !== null) return { statusCode, completion };
    const message = `The provider's response is not a completion: ${description}.`;
    return { statusCode, error: new RunError('provider_bad_response', message, { providerMessage }) };
  }
  if (!isGood && statusCode < 400) {
    const message = 'The provider returned a redirect, which the worker does not follow.';
    return { statusCode, error: new RunError('provider_rejected', message, { endsRun: true }) };
  }
  const stated = failure?.statusCode ?? null;
  const isOverloaded = stated === 429 || stated === 529;
  const status = isGood || (isOverloaded && statusCode < 500) ? (stated ?? 500) : statusCode;
  const errorCode = failure?.code ?? (isGood ? stated : null);
  const message = `The provider returned an error: ${description}${errorCode === null ? '' : `, ${errorCode}`}.`;
  const ended = (code: RunErrorCode): FailedAttempt => ({
    statusCode,
    // A provider that answers one item with an error may answer the next one.
    error: new RunError(code, message, { endsRun: !isGood || isForAll(status), providerMessage }),
  });
  const transient = (code: RunErrorCode): FailedAttempt => ({
    statusCode,
    error: new RunError(code, message, { providerMessage }),
    retry: { headers },
  });
  if (status === 401 || status === 403) return ended('provider_unauthorized');
  if (status === 404 || status === 405) return ended('provider_not_found');
  if (status === 402 || errorCode === 'insufficient_quota') return ended('provider_rejected');
  if (status === 429) return transient('provider_rate_limited');
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    return transient('provider_unavailable');
  }
  return { statusCode, error: new RunError('provider_rejected', message, { providerMessage }) };
}

/** Whether no item gets an answer: the key is wrong, or the account has no credit. */
const isForAll = (status: number): boolean => status === 401 || status === 402;

export const isGoodStatus = (statusCode: number | null): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

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

/** Never quotes text: the author of a run chooses the server, and must not read what only the worker can reach. */
function describeResponse(statusCode: number, headers: ResponseHeaders, byteLength: number): string {
  const header = headers['content-type'];
  const type = (Array.isArray(header) ? header[0] : header)?.split(';', 1)[0]?.trim().toLowerCase();
  const name = type === undefined ? 'no type' : KNOWN_TYPES.has(type) ? type : 'another type';
  return `status ${statusCode}, ${name}, ${byteLength} bytes`;
}

export interface PaidAnswer {
  readonly tokens: TokenCounts;
  /** As the provider reported it; null if it did not. */
  readonly usage: Completion['usage'];
}

export interface ReceivedResponse {
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
}

export interface FailedAttempt {
  readonly statusCode: number | null;
  readonly error: RunError;
  /** For the log, instead of the code of the error. */
  readonly reason?: string;
  /** Set if another attempt may succeed. */
  readonly retry?: { readonly headers: ResponseHeaders };
}

interface CompletedAttempt {
  readonly statusCode: number;
  readonly completion: Omit<Completion, 'attempts'>;
}

export type Attempt = (CompletedAttempt | FailedAttempt) & { readonly paid: PaidAnswer | null };
