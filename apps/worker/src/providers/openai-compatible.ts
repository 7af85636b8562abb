import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Completion,
  type ModelConfig,
  type Provider,
  type ProviderRequest,
  RunError,
} from '@svc/evaluation';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { Logger } from '@svc/observability';
import type { Dispatcher } from 'undici';
import { readCompletion, readErrorCode } from './completion.ts';
import { connectionError, TIMED_OUT } from './connection-error.ts';
import { describeCompletion } from './describe-completion.ts';
import { type ResponseHeaders, retryDelayMs } from './retry-delay.ts';

/** No answer of a model is this long; what is longer is not read to its end. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

export interface OpenAiCompatibleOptions extends ModelConfig {
  /** the key itself, or why there is none that may be sent; null for a server that wants none */
  readonly apiKey: string | null | RunError;
  readonly maxRetries: number;
  /** of one try, from its start to the last byte of the answer */
  readonly timeoutMs: number;
  readonly dispatcher: Dispatcher;
  readonly logger: Pick<Logger, 'log'>;
  /** waits; throws when the signal is aborted. Default: a timer */
  readonly wait?: ((delayMs: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** from 0 to 1. Default: Math.random */
  readonly random?: (() => number) | undefined;
}

/**
 * A provider that speaks the chat-completions protocol: `POST <base URL>/chat/completions`, without
 * streaming.
 *
 * Sent again, with growing delays or when the answer says so: 408, 409, 425, 429, 5xx, broken connections and
 * timeouts. What is wrong with one item (`provider_rejected`, `provider_rate_limited`,
 * `provider_unavailable`, `provider_timeout`, `provider_bad_response`) fails that item; a refused or missing
 * key, an unknown model or host, a forbidden destination, a redirect (never followed: the key would travel along) or an account
 * without credit ends the run. No message and no log line holds the key or text of the answer.
 */
export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): Provider {
  const { apiKey, wait = (ms, signal) => sleep(ms, undefined, { signal }), random = Math.random } = options;
  const url = new URL(`${options.baseUrl}/chat/completions`);
  const log = { host: url.host, model: options.model };

  return {
    usesMessages: true,
    async answer(request, signal) {
      if (apiKey instanceof RunError) throw apiKey;
      const body = requestBody(options, request);
      for (let attempt = 1; ; attempt++) {
        const startMs = performance.now();
        const outcome = await tryOnce(url, body, apiKey, options, signal);
        const status_code = outcome.statusCode;
        const duration_ms = Math.round(performance.now() - startMs);
        options.logger.log('provider.request', { ...log, status_code, attempt, duration_ms });
        if (outcome.answer !== undefined) return outcome.answer;

        const { error, retry } = outcome;
        const isLast = retry === undefined || attempt > options.maxRetries;
        const delayMs = isLast ? null : retryDelayMs(attempt, retry.headers, random(), Date.now());
        if (delayMs === null) throw error;
        const reason = outcome.reason ?? error.code;
        options.logger.log('provider.retry', { ...log, status_code, reason, attempt, delay_ms: delayMs });
        await wait(delayMs, signal).catch(() => undefined);
        signal.throwIfAborted();
      }
    },
  };
}

type Outcome =
  | { readonly statusCode: number; readonly answer: Completion }
  | {
      readonly statusCode: number | null;
      readonly answer?: undefined;
      readonly error: RunError;
      /** what the log says of it in place of the error's code */
      readonly reason?: string;
      /** present when another try may help */
      readonly retry?: { readonly headers: ResponseHeaders };
    };

/** One try. Throws only the reason of an aborted signal. */
async function tryOnce(
  url: URL,
  body: string | Buffer,
  apiKey: string | null,
  options: OpenAiCompatibleOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
  const stop = (): void => deadline.abort();
  signal.addEventListener('abort', stop);
  let statusCode: number | null = null;
  try {
    signal.throwIfAborted();
    const response = await options.dispatcher.request({
      origin: url.origin,
      path: url.pathname,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal: deadline.signal,
    });
    statusCode = response.statusCode;
    return toOutcome(statusCode, response.headers, await readBody(response.body));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RunError) return { statusCode, error };
    if (deadline.signal.aborted) {
      return { statusCode, error: new RunError(...TIMED_OUT), retry: { headers: {} } };
    }
    const { error: failure, isTransient, reason } = connectionError(error);
    return { statusCode, error: failure, reason, ...(isTransient ? { retry: { headers: {} } } : {}) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function toOutcome(statusCode: number, headers: ResponseHeaders, body: Buffer): Outcome {
  const text = new TextDecoder().decode(body);
  const description = describeCompletion(statusCode, headers, body.byteLength);
  if (statusCode >= 200 && statusCode < 300) {
    const answer = readCompletion(text);
    if (answer !== undefined) return { statusCode, answer };
    const message = `The provider's answer is no chat completion: ${description}`;
    return { statusCode, error: new RunError('provider_bad_response', message) };
  }
  const code = readErrorCode(text);
  const message = `The provider answered with an error: ${description}${code === undefined ? '' : `, ${code}`}`;
  if (statusCode < 400) {
    return {
      statusCode,
      error: new RunError(
        'provider_rejected',
        'The provider answered with a redirect, which is not followed',
        { endsRun: true },
      ),
    };
  }
  if (statusCode === 401 || statusCode === 403) {
    return { statusCode, error: new RunError('provider_unauthorized', message, { endsRun: true }) };
  }
  if (statusCode === 404 || statusCode === 405) {
    return { statusCode, error: new RunError('provider_not_found', message, { endsRun: true }) };
  }
  if (statusCode === 402 || code === 'insufficient_quota') {
    return { statusCode, error: new RunError('provider_rejected', message, { endsRun: true }) };
  }
  if (statusCode === 429)
    return { statusCode, error: new RunError('provider_rate_limited', message), retry: { headers } };
  if (statusCode >= 500 || statusCode === 408 || statusCode === 409 || statusCode === 425) {
    return { statusCode, error: new RunError('provider_unavailable', message), retry: { headers } };
  }
  return { statusCode, error: new RunError('provider_rejected', message) };
}

async function readBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) {
      throw new RunError(
        'provider_bad_response',
        `The provider's answer is longer than ${MAX_RESPONSE_BYTES} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function requestBody(
  { model, params }: ModelConfig,
  { messages, messagesJson }: ProviderRequest,
): string | Buffer {
  const members: JsonObject = { ...params, model };
  if (messagesJson === undefined) return canonicalJson({ ...members, messages: [...messages] });
  // in whatever order: a large conversation is copied as it is
  delete members['messages'];
  return Buffer.concat([
    Buffer.from('{"messages":'),
    messagesJson,
    Buffer.from(`,${canonicalJson(members).slice(1)}`),
  ]);
}
