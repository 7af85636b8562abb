import { ProxyError } from '@svc/hub-client/egress';
import { type RequestBody, RunError, type RunErrorCode } from '@svc/service/evaluation';
import type { FailedAttempt, ReceivedResponse } from './classify-response.ts';
import { ForbiddenDestination, type ProviderDispatcher } from './provider-dispatcher.ts';

const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** Receives the whole response, or says why there is none. @throws only the signal's reason when it is aborted */
export async function sendRequest(
  request: {
    readonly url: URL;
    readonly body: RequestBody;
    readonly headers: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly dispatcher: Pick<ProviderDispatcher, 'request'>;
  },
  signal: AbortSignal,
): Promise<ReceivedResponse | FailedAttempt> {
  const { url, body, headers, timeoutMs, dispatcher } = request;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const stop = (): void => deadline.abort();
  signal.addEventListener('abort', stop);
  let statusCode: number | null = null;
  try {
    signal.throwIfAborted();
    const response = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.byteLength) },
      body: body.open(deadline.signal),
      signal: deadline.signal,
    });
    statusCode = response.statusCode;
    return { statusCode, headers: response.headers, body: await readBody(response.body) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RunError) return { statusCode, error };
    if (deadline.signal.aborted) {
      return { statusCode, error: new RunError(...TIMED_OUT), retry: { headers: {} } };
    }
    return { statusCode, ...connectionError(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function readBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let byteLength = 0;
  for await (const chunk of body) {
    byteLength += chunk.byteLength;
    if (byteLength > MAX_RESPONSE_BYTES) {
      throw new RunError(
        'provider_bad_response',
        `The provider's response must have at most ${MAX_RESPONSE_BYTES} bytes.`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Prefixes of the codes of certificate and TLS errors in Node and OpenSSL. */
const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;

/**
 * Why there is no response, in one fixed sentence per class: the author of a run chooses the destination, and must not
 * learn from the message which ports are open in the worker's network.
 */
export function connectionError(cause: unknown): Omit<FailedAttempt, 'statusCode'> {
  // The error code of the system.
  const reason = errorCode(cause);
  const ended = (code: RunErrorCode, message: string) => ({
    error: new RunError(code, message, { endsRun: true, cause }),
    reason,
  });
  const transient = (code: RunErrorCode, message: string) => ({
    error: new RunError(code, message, { cause }),
    reason,
    retry: { headers: {} },
  });
  if (cause instanceof ForbiddenDestination) {
    return ended('provider_forbidden', 'The worker does not allow requests to this destination.');
  }
  if (cause instanceof ProxyError) {
    return transient('provider_unavailable', 'Cannot connect to the proxy of the worker.');
  }
  if (reason === 'ENOTFOUND') return ended('provider_not_found', "Cannot resolve the provider's host name.");
  if (reason === 'UND_ERR_CONNECT_TIMEOUT' || reason === 'ETIMEDOUT') return transient(...TIMED_OUT);
  if (TLS_CODE.test(reason)) {
    return transient('provider_unavailable', 'Cannot connect to the provider: the TLS handshake failed.');
  }
  return transient('provider_unavailable', 'Cannot connect to the provider, or the connection broke.');
}

const TIMED_OUT = ['provider_timeout', 'Timed out waiting for the provider.'] as const;

function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' && code !== '' ? code : 'connection error';
}
