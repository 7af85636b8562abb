import { setTimeout as sleep } from 'node:timers/promises';
import { type KnownSecrets, REDACTED, replaceSecrets, spellingsOf } from '@svc/jsonl-v23/secrets';
import { redactNamedSecrets, redactSecretForms } from '@svc/pkg-format/secrets';
import { LABELS, type Logger, type Metrics } from '@svc/service';
import {
  addUsage,
  type CheckRunner,
  type Completion,
  hashRequest,
  type ModelConfig,
  modelRequest,
  outputLimit,
  type Provider,
  type RequestBody,
  RunError,
  readProviderResponse,
  requestBody,
  type TokenCounts,
  type WireFormat,
} from '@svc/service/evaluation';
import type { Turns } from '@svc/service/flows';
import { type Attempt, classifyResponse, isGoodStatus, type PaidAnswer } from './classify-response.ts';
import type { ProviderDispatcher } from './provider-dispatcher.ts';
import { type RequestPacer, retryDelayMs } from './request-timing.ts';
import { sendRequest } from './send-request.ts';

export interface ModelProviderOptions extends ModelConfig {
  readonly wireFormat: WireFormat;
  /** The key itself, or why there is none to send; null for a server that needs none. */
  readonly apiKey: string | null | RunError;
  /** The keys of the process, of any length, which no error may repeat. */
  readonly keys: readonly string[];
  readonly maxRetries: number;
  /** Limit of one attempt, from its start to the last byte of the response. */
  readonly timeoutMs: number;
  readonly dispatcher: Pick<ProviderDispatcher, 'request'>;
  readonly pacer: RequestPacer;
  /** One for each response. Responses that arrive together are read one after the other. */
  readonly turns: Turns;
  readonly checks: CheckRunner;
  readonly logger: Pick<Logger, 'log'>;
  readonly metrics: Pick<Metrics, 'recordProviderRequest' | 'recordProviderTokens'>;
  /** Waits; rejects when the signal is aborted. Default: a timer. */
  readonly wait?: ((delayMs: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * Asks a model, without streaming. Retries 408, 409, 425, 429, 5xx, also where only the body states them, broken connections
 * and timeouts, with growing delays or as the response asks, of five minutes in all. An error of one item fails that item. An
 * invalid or missing key, an unknown model or host, a forbidden destination, a redirect (never followed: it would forward
 * the key) or an account without credit ends the run. No message and no log line contains the key; what the provider says
 * about an error is not in the message, see `shownMessage`.
 */
export function createModelProvider(options: ModelProviderOptions): Provider {
  const { apiKey, checks, logger, metrics, maxRetries, pacer, turns, wireFormat } = options;
  const { wait = (delayMs, signal) => sleep(delayMs, undefined, { signal }), random = Math.random } = options;
  const fixed = modelRequest(options, wireFormat, apiKey instanceof RunError ? null : apiKey);
  const hidden = hiddenTexts(options);
  const fields = { host: fixed.url.host, model: options.model };

  const attemptOnce = async (
    body: RequestBody,
    maxOutputChars: number | null,
    signal: AbortSignal,
  ): Promise<Attempt> => {
    const response = await sendRequest({ ...options, ...fixed, body }, signal);
    await turns.take();
    signal.throwIfAborted();
    // The tokens of an answer that cannot be read are not known, and were paid for.
    const unknown = isGoodStatus(response.statusCode) ? UNKNOWN : null;
    if ('error' in response) return { ...response, paid: unknown };
    try {
      const { errorText, usage, tokens, ...content } = await readProviderResponse(
        { kind: 'response', body: response.body, format: wireFormat, maxOutputChars },
        checks,
        signal,
      );
      const providerMessage = errorText === null ? null : shownMessage(errorText, hidden);
      const paid = tokens === null ? (content.failure === null ? unknown : null) : { tokens, usage };
      return { ...classifyResponse(response, { ...content, providerMessage }), paid };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RunError)) throw error;
      return { statusCode: response.statusCode, error, paid: unknown };
    }
  };

  return {
    usesMessages: true,
    wireFormat,
    maxOutputTokens: outputLimit(options, wireFormat),
    hashRequest: (request, repetition) => hashRequest(options, request, wireFormat, repetition),
    async complete(request, signal): Promise<Completion> {
      if (apiKey instanceof RunError) throw apiKey;
      const body = requestBody(options, request, wireFormat);
      let pacedMs = 0;
      let waitedMs = 0;
      const answers: TokenCounts[] = [];
      let failedUsage: Completion['usage'] = null;
      for (let attempt = 1; ; attempt += 1) {
        pacedMs += await pacer.turn(signal);
        const startMs = performance.now();
        const result = await attemptOnce(body, request.maxOutputChars ?? null, signal);
        const status_code = result.statusCode;
        const durationMs = performance.now() - startMs;
        metrics.recordProviderRequest({ outcome: outcomeOf(result), durationMs });
        const duration_ms = Math.round(durationMs);
        logger.log('provider.request', { ...fields, status_code, attempt, duration_ms });
        const { paid } = result;
        if (paid !== null) {
          answers.push(paid.tokens);
          metrics.recordProviderTokens(paid.tokens);
        }
        if ('completion' in result) {
          const usage = addUsage(failedUsage, result.completion.usage);
          return { ...result.completion, usage, attempts: attempt, pacedMs, answers };
        }
        failedUsage = addUsage(failedUsage, paid?.usage ?? null);

        const { error, reason = error.code, retry } = result;
        const isLast = retry === undefined || attempt > maxRetries;
        const delayMs = isLast ? null : retryDelayMs(attempt, retry.headers, random(), Date.now(), waitedMs);
        if (delayMs === null) throw withFacts(error, { attempts: attempt, usage: failedUsage, answers });
        logger.log('provider.retry', { ...fields, status_code, reason, attempt, delay_ms: delayMs });
        waitedMs += delayMs;
        await wait(delayMs, signal).catch(() => undefined);
        signal.throwIfAborted();
      }
    },
  };
}

const UNKNOWN: PaidAnswer = { tokens: { input: null, output: null }, usage: null };

function withFacts(error: RunError, facts: Pick<RunError, 'attempts' | 'usage' | 'answers'>): RunError {
  const { code, message, endsRun, providerMessage, cause } = error;
  return new RunError(code, message, {
    endsRun,
    providerMessage,
    ...facts,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The result of a request as a label of a metric: `ok`, or the code of the error without `provider_`. */
function outcomeOf(result: Attempt): Parameters<Metrics['recordProviderRequest']>[0]['outcome'] {
  if ('completion' in result) return 'ok';
  const code = result.error.code.replace('provider_', '');
  return LABELS.providerOutcome.find((outcome) => outcome === code) ?? 'rejected';
}

const MAX_CODE_POINTS = 500;

/** A message is no output: here, shorter keys are hidden too. */
const MIN_HIDDEN_CHARS = 4;

/**
 * What a message must not repeat: the keys of the process, then the values of the headers that the author of the run adds. If
 * a header that ends like the beginning of a key were replaced first, the author would read the rest of the key.
 */
export const hiddenTexts = ({
  keys,
  extra_headers = {},
}: Pick<ModelProviderOptions, 'extra_headers' | 'keys'>) =>
  [keys, Object.values(extra_headers)].map((texts) => spellingsOf(texts, MIN_HIDDEN_CHARS));

/** Beginnings of keys in messages, which may be short, or masked with asterisks. */
const KEYS =
  /\b(?:sk|pk|rk|hf|gh[opsur]|github_pat|glpat|xox[abeprs]|gsk|xai|r8|pypi)[-_](?=[\w.-]{0,100}[\d*])[\w*.-]{4,}/g;
const WEB_TOKENS = /\beyJ[\w-]{6,}(?:\.[\w-]*){0,2}/g;
const SCHEMES = /\b(bearer|basic) +[\w.~+/=:*-]{6,}/gi;
const USER_INFO = /:\/\/[^\s/?#@"']{1,512}@/g;

/**
 * What a provider says about an error, as results show it: without control characters, then without anything that is or
 * looks like a secret, then cut to 500 code points. Null if nothing is left.
 */
export function shownMessage(text: string, hidden: readonly KnownSecrets[]): string | null {
  const readable = text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    // Characters that are not seen could also hide a secret from what follows.
    .replace(/[\p{Cc}\p{Cf}]/gu, '');
  const known = hidden.reduce(replaceSecrets, readable);
  const formed = redactNamedSecrets(redactSecretForms(known))
    .replace(KEYS, REDACTED)
    .replace(WEB_TOKENS, REDACTED)
    .replace(SCHEMES, `$1 ${REDACTED}`)
    .replace(USER_INFO, `://${REDACTED}@`);
  const shown = cut(formed.trim());
  return shown === '' ? null : shown;
}

function cut(text: string): string {
  if (text.length <= MAX_CODE_POINTS) return text;
  const points = Array.from(text.slice(0, 2 * MAX_CODE_POINTS + 2));
  return points.length <= MAX_CODE_POINTS ? text : `${points.slice(0, MAX_CODE_POINTS - 1).join('')}…`;
}
