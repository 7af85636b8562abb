import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ModelConfig,
  type Provider,
  type ProviderAnswer,
  type ProviderRequest,
  RunError,
} from '@svc/flows';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23';
import { createRedactor, type Logger } from '@svc/observability';
import { Agent, type Dispatcher } from 'undici';
import { readCompletion, readProviderError } from './completion.ts';
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

/** Connections to providers, kept open between requests. Close it when the worker stops. */
export function createProviderDispatcher(): Dispatcher {
  // A request has one deadline for all of it, so the timeouts of its parts are off.
  return new Agent({ connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 });
}

/**
 * A provider that speaks the chat-completions protocol: `POST <base URL>/chat/completions`, without
 * streaming.
 *
 * Sent again, with growing delays or when the answer says so: 408, 409, 425, 429, 5xx, broken connections and
 * timeouts. What is wrong with one item (`provider_rejected`, `provider_rate_limited`,
 * `provider_unavailable`, `provider_timeout`, `provider_bad_response`) fails that item; a refused or missing
 * key, an unknown model or host, a redirect (never followed: the key would travel along) or an account
 * without credit ends the run. The key stands in no message and no log line.
 */
export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): Provider {
  const { apiKey, wait = (ms, signal) => sleep(ms, undefined, { signal }), random = Math.random } = options;
  const url = new URL(`${options.baseUrl}/chat/completions`);
  const redact = createRedactor(typeof apiKey === 'string' ? [apiKey] : []);
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
        if (delayMs === null) throw withoutSecrets(error, redact);
        const reason = error.code;
        options.logger.log('provider.retry', { ...log, status_code, reason, attempt, delay_ms: delayMs });
        await wait(delayMs, signal).catch(() => undefined);
        signal.throwIfAborted();
      }
    },
  };
}

type Outcome =
  | { readonly statusCode: number; readonly answer: ProviderAnswer }
  | {
      readonly statusCode: number | null;
      readonly answer?: undefined;
      readonly error: RunError;
      /** present when another try may help */
      readonly retry?: { readonly headers: ResponseHeaders };
    };

/** One try. Throws only the reason of an aborted signal. */
async function tryOnce(
  url: URL,
  body: string,
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
    return toOutcome(statusCode, response.headers, await readText(response.body));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RunError) return { statusCode, error };
    if (deadline.signal.aborted) {
      const message = `The provider did not answer within ${options.timeoutMs} ms`;
      return { statusCode, error: new RunError('provider_timeout', message), retry: { headers: {} } };
    }
    return brokenConnection(error, url.host, statusCode);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function toOutcome(statusCode: number, headers: ResponseHeaders, text: string): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { statusCode, answer: readCompletion(text) };
  const { reason, code } = readProviderError(text);
  const message = `The provider answered with status ${statusCode}: ${reason}`;
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

function brokenConnection(error: unknown, host: string, statusCode: number | null): Outcome {
  const code = errorCode(error);
  if (code === 'ENOTFOUND') {
    const message = `The provider's host ${host} is not known`;
    return {
      statusCode,
      error: new RunError('provider_not_found', message, { endsRun: true, cause: error }),
    };
  }
  const message = `The provider at ${host} could not be reached (${code})`;
  return {
    statusCode,
    error: new RunError('provider_unavailable', message, { cause: error }),
    retry: { headers: {} },
  };
}

function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' && code !== '' ? code : 'connection error';
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
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
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function requestBody({ model, params }: ModelConfig, { messages }: ProviderRequest): string {
  const body: JsonObject = { ...params, model, messages: [...messages] };
  return canonicalJson(body);
}

/** A provider may repeat in its error what it was sent. */
function withoutSecrets(error: RunError, redact: (text: string) => string): RunError {
  return new RunError(error.code, redact(error.message), { endsRun: error.endsRun, cause: error.cause });
}
