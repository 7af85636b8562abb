import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CheckRunner,
  type ModelConfig,
  type Provider,
  RunError,
  readProviderResponse,
} from '@svc/evaluation';
import type { Logger } from '@svc/observability';
import type { Dispatcher } from 'undici';
import type { Attempt } from './attempt.ts';
import { classifyResponse } from './classify-response.ts';
import { requestBody } from './request-body.ts';
import { retryDelayMs } from './retry-delay.ts';
import { sendRequest } from './send-request.ts';

export interface OpenAiCompatibleOptions extends ModelConfig {
  /** The key itself, or why there is none to send; null for a server that needs none. */
  readonly apiKey: string | null | RunError;
  readonly maxRetries: number;
  /** Limit of one attempt, from its start to the last byte of the response. */
  readonly timeoutMs: number;
  readonly dispatcher: Dispatcher;
  /** Reads large responses. */
  readonly checks: CheckRunner;
  readonly logger: Pick<Logger, 'log'>;
  /** Waits; rejects when the signal is aborted. Default: a timer. */
  readonly wait?: ((delayMs: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** From 0 to 1. Default: Math.random. */
  readonly random?: (() => number) | undefined;
}

/**
 * A provider that uses the chat-completions protocol: `POST <base URL>/chat/completions`, without streaming.
 *
 * It retries 408, 409, 425, 429, 5xx, broken connections and timeouts, with growing delays or as the response asks. An
 * error of one item (`provider_rejected`, `provider_rate_limited`, `provider_unavailable`, `provider_timeout`,
 * `provider_bad_response`) fails that item. An invalid or missing key, an unknown model or host, a forbidden
 * destination, a redirect (never followed: it would forward the key) or an account without credit ends the run. No
 * message and no log line contains the key or text of the response.
 */
export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): Provider {
  const { apiKey, checks, logger, maxRetries } = options;
  const { wait = (delayMs, signal) => sleep(delayMs, undefined, { signal }), random = Math.random } = options;
  const url = new URL(`${options.baseUrl}/chat/completions`);
  const fields = { host: url.host, model: options.model };

  return {
    usesMessages: true,
    async complete(request, signal) {
      if (apiKey instanceof RunError) throw apiKey;
      const body = requestBody(options, request);
      const attemptOnce = async (): Promise<Attempt> => {
        const response = await sendRequest({ ...options, url, body, apiKey }, signal);
        if ('error' in response) return response;
        const { maxOutputChars = null } = request;
        try {
          const content = await readProviderResponse(response.body, maxOutputChars, checks, signal);
          return classifyResponse(response, content);
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof RunError)) throw error;
          return { statusCode: response.statusCode, error };
        }
      };

      for (let attempt = 1; ; attempt += 1) {
        const startMs = performance.now();
        const result = await attemptOnce();
        const status_code = result.statusCode;
        const duration_ms = Math.round(performance.now() - startMs);
        logger.log('provider.request', { ...fields, status_code, attempt, duration_ms });
        if ('completion' in result) return result.completion;

        const { error, reason = error.code, retry } = result;
        const isLast = retry === undefined || attempt > maxRetries;
        const delayMs = isLast ? null : retryDelayMs(attempt, retry.headers, random(), Date.now());
        if (delayMs === null) throw error;
        logger.log('provider.retry', { ...fields, status_code, reason, attempt, delay_ms: delayMs });
        await wait(delayMs, signal).catch(() => undefined);
        signal.throwIfAborted();
      }
    },
  };
}
