import { type RequestBody, RunError } from '@svc/evaluation';
import type { FailedAttempt, ReceivedResponse } from './attempt.ts';
import { connectionError, TIMED_OUT } from './connection-error.ts';
import type { ProviderDispatcher } from './provider-dispatcher.ts';

/** Longer responses are not read to their end. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/**
 * Sends a request once and receives the whole response.
 *
 * @returns the response, or why there is none
 * @throws only the signal's reason when it is aborted
 */
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
