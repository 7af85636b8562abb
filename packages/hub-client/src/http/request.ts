import { type Compression, decompress } from '@svc/tabular/internal';
import { HubError, type HubErrorCode } from '../errors.ts';
import type { Clock } from './clock.ts';
import { bodyMessage, errorHandler, type Subject } from './response-error.ts';
import { type HeaderReader, isRetryableStatus, planRetry, type RetryPolicy } from './retry.ts';
import type { ResponseHeaders, Transport, TransportResponse } from './transport.ts';

/** What a request is about; `file` covers everything below `/resolve/`, `storage` the hosts it leads to. */
export type RequestKind = 'info' | 'tree' | 'refs' | 'file' | 'storage';

/** One finished HTTP exchange, for logs and metrics. Holds no token, no query and no path. */
export interface RequestEvent {
  method: string;
  host: string;
  kind: RequestKind;
  /** null when no answer came. */
  status: number | null;
  outcome: 'ok' | 'redirect' | 'refused' | 'failed' | 'aborted';
  durationMs: number;
  /** Bytes of the body that were read. */
  bytes: number;
  /** `X-Request-Id` of the answer. */
  hubRequestId: string | null;
}

/** One decision to try again, for logs. */
export interface RetryEvent {
  host: string;
  kind: RequestKind;
  status: number | null;
  code: HubErrorCode;
  /** Failures so far: 1 at the first retry. */
  failures: number;
  delayMs: number;
  reason: 'rate_limit' | 'retry_after' | 'backoff';
}

/** What all requests about one dataset share. */
export interface RequestContext {
  subject: Subject;
  token?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Clock time after which nothing is begun or waited for. */
  deadlineMs?: number | undefined;
  retry: RetryPolicy;
}

export interface HubRequest {
  kind: RequestKind;
  /** Address, of the endpoint or one that the endpoint led to. */
  url: URL;
  headers?: Record<string, string>;
  /** Statuses beside 2xx that are answers and not errors. */
  accept?: readonly number[];
  subject?: Subject;
}

/** An answer whose body is to be read once, or discarded. */
export interface HubResponse {
  status: number;
  headers: ResponseHeaders;
  /** Last address of the chain of redirects. */
  url: URL;
  /** Headers of the answers by which the hub itself redirected, first to last. */
  hops: readonly ResponseHeaders[];
  /** Whether the hub's own origin gave the answer. */
  fromHub: boolean;
  /** The body; ends in an error when it is shorter than declared or stops coming. */
  chunks(): AsyncGenerator<Uint8Array>;
  /** The whole body. */
  bytes(maxBytes: number): Promise<Uint8Array>;
  /** Ends the exchange without reading on. */
  discard(): Promise<void>;
}

export interface RequesterOptions {
  endpoint: URL;
  transport: Transport;
  userAgent: string;
  headersTimeoutMs: number;
  idleBodyTimeoutMs: number;
  clock: Clock;
  onRequest?: ((event: RequestEvent) => void) | undefined;
  onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** A try that may end differently when it is repeated. */
export class RetryableError extends Error {
  readonly status: number | null;
  readonly header: HeaderReader;
  readonly kind: RequestKind;
  readonly host: string;
  /** The error it becomes when no try is left. */
  readonly final: (waitMs: number | null) => HubError;

  constructor(
    tried: { status: number | null; header?: HeaderReader; kind: RequestKind; host: string },
    final: (waitMs: number | null) => HubError,
  ) {
    super('failed try');
    this.name = 'FailedTryError';
    this.status = tried.status;
    this.header = tried.header ?? (() => null);
    this.kind = tried.kind;
    this.host = tried.host;
    this.final = final;
  }
}

export interface Requester {
  readonly endpoint: URL;
  readonly clock: Clock;
  /**
   * One try, redirects followed.
   * @throws RetryableError when a repetition may help, HubError when not, the signal's reason when aborted
   */
  open(request: HubRequest, context: RequestContext): Promise<HubResponse>;
  /**
   * Waits before the next try, or throws what the failure means when there is none.
   * @param failures tries that failed before this one
   * @param sinceMs clock time at which the first try began
   */
  recover(error: unknown, failures: number, sinceMs: number, context: RequestContext): Promise<void>;
  /** Tries until `use` has read an answer. */
  read<T>(request: HubRequest, context: RequestContext, use: (answer: HubResponse) => Promise<T>): Promise<T>;
  /** Reads a JSON answer. */
  readJson(
    request: HubRequest,
    context: RequestContext,
    maxBytes: number,
  ): Promise<{ value: unknown; answer: HubResponse }>;
}

const MAX_REDIRECTS = 8;
const MAX_ERROR_BODY_BYTES = 16 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** setTimeout takes no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The one place that talks to the hub: headers, token, redirects, timeouts, retries and the meaning of refusals.
 *
 * The token is sent to the endpoint's own origin only; once a redirect has led away it is not sent again, even
 * if the chain comes back.
 */
export function createRequester(options: RequesterOptions): Requester {
  const { endpoint, transport, clock } = options;
  /** Bucket and token → clock time before which the hub asked not to be asked. */
  const rateLimitedUntilMs = new Map<string, number>();

  async function open(request: HubRequest, context: RequestContext): Promise<HubResponse> {
    await waitForWindow(request, context);
    const hops: ResponseHeaders[] = [];
    let url = request.url;
    let onHub = url.origin === endpoint.origin;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const exchange = await startExchange(request, url, onHub, context);
      const { answer } = exchange;
      const location = answer.headers.get('location');
      if (!REDIRECTS.has(answer.status) || location === null) {
        // Where the runtime follows redirects by itself, only the address tells who answered.
        const fromHub = onHub && answer.url.origin === endpoint.origin;
        const taken = { ...exchange.reader, hops, fromHub, url: answer.url };
        if ((answer.status >= 200 && answer.status < 300) || request.accept?.includes(answer.status))
          return taken;
        throw await refusal(request, taken, context);
      }
      if (onHub) hops.push(answer.headers);
      await exchange.reader.discard();
      url = redirectTarget(location, url);
      onHub = onHub && url.origin === endpoint.origin;
    }
    throw new HubError('hub_bad_response', `the hub redirects more than ${MAX_REDIRECTS} times`);
  }

  /** Sends one request and watches it until its body has been read. */
  async function startExchange(
    request: HubRequest,
    url: URL,
    onHub: boolean,
    context: RequestContext,
  ): Promise<{ answer: TransportResponse; reader: Omit<HubResponse, 'hops' | 'fromHub' | 'url'> }> {
    const { signal, deadlineMs } = context;
    signal?.throwIfAborted();
    const startedMs = clock.nowMs();
    const where = { kind: onHub ? request.kind : ('storage' as const), host: url.host };
    const remainingMs = deadlineMs === undefined ? Number.POSITIVE_INFINITY : deadlineMs - startedMs;
    if (remainingMs <= 0) throw outOfTime();

    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const deadline = startTimer(remainingMs, () => stop.abort(outOfTime()));
    const timedOut = (what: string): RetryableError =>
      new RetryableError(
        { status: null, ...where },
        () => new HubError('hub_timeout', `${url.host} ${what}`),
      );
    let bytes = 0;
    let status: number | null = null;
    let hubRequestId: string | null = null;

    let finished = false;
    const finish = (outcome: RequestEvent['outcome']): void => {
      if (finished) return;
      finished = true;
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(deadline);
      const durationMs = clock.nowMs() - startedMs;
      options.onRequest?.({ method: 'GET', ...where, status, outcome, durationMs, bytes, hubRequestId });
    };
    /** What a failure of the transport means, and the end of the exchange. */
    const fail = (error: unknown): unknown => {
      finish(signal?.aborted ? 'aborted' : 'failed');
      if (stop.signal.aborted) return stop.signal.reason;
      // The transport knows what no repetition will change.
      if (error instanceof HubError) return error;
      return new RetryableError({ status: null, ...where }, () => transportError(error, url.host));
    };

    const headers: Record<string, string> = {
      accept: '*/*',
      // Sizes and ranges mean the bytes of the file.
      'accept-encoding': 'identity',
      'user-agent': options.userAgent,
      ...request.headers,
      ...(onHub && context.token !== undefined ? { authorization: `Bearer ${context.token}` } : {}),
    };
    const headersTimer = startTimer(options.headersTimeoutMs, () =>
      stop.abort(timedOut(`did not answer within ${options.headersTimeoutMs} ms`)),
    );
    let answer: TransportResponse;
    try {
      answer = await transport('GET', url, headers, stop.signal);
    } catch (error) {
      throw fail(error);
    } finally {
      clearTimeout(headersTimer);
    }
    status = answer.status;
    hubRequestId = answer.headers.get('x-request-id');
    const outcome = REDIRECTS.has(status) ? 'redirect' : status >= 400 ? 'refused' : 'ok';

    let body: AsyncIterator<Uint8Array> | undefined = answer.body[Symbol.asyncIterator]();
    async function* raw(): AsyncGenerator<Uint8Array> {
      const source = body;
      if (source === undefined) return;
      let ended = false;
      try {
        while (true) {
          const idle = startTimer(options.idleBodyTimeoutMs, () =>
            stop.abort(timedOut(`stopped sending for ${options.idleBodyTimeoutMs} ms`)),
          );
          let next: IteratorResult<Uint8Array>;
          try {
            next = await source.next();
          } catch (error) {
            ended = true;
            throw fail(error);
          } finally {
            clearTimeout(idle);
          }
          if (next.done) break;
          bytes += next.value.length;
          yield next.value;
        }
        ended = true;
        if (answer.bodyLength !== null && bytes < answer.bodyLength) {
          throw fail(new Error(`${bytes} of ${answer.bodyLength} bytes came`));
        }
        finish(outcome);
      } finally {
        body = undefined;
        if (!ended) {
          stop.abort(new Error('not read on'));
          await source.return?.().catch(() => undefined);
          finish(signal?.aborted ? 'aborted' : outcome);
        }
      }
    }
    async function* chunks(): AsyncGenerator<Uint8Array> {
      const compression = COMPRESSIONS[answer.contentEncoding ?? ''];
      if (compression === undefined) yield* raw();
      else {
        try {
          yield* decompress(compression, (ended) => {
            ended.addEventListener('abort', () => stop.abort(ended.reason), { once: true });
            return raw();
          });
        } catch (error) {
          if (error instanceof RetryableError || error instanceof HubError || signal?.aborted) throw error;
          throw new HubError(
            'hub_bad_response',
            `${url.host} did not send the ${compression} that it declared`,
            {
              cause: error,
            },
          );
        }
      }
    }
    const reader = {
      status: answer.status,
      headers: answer.headers,
      chunks,
      bytes: (maxBytes: number) => collect(chunks(), maxBytes),
      async discard() {
        // A short body is read to its end, which keeps the connection; anything longer is cut off.
        if (body === undefined) return;
        let left = MAX_ERROR_BODY_BYTES;
        try {
          for await (const chunk of raw()) {
            left -= chunk.length;
            if (left <= 0) break;
          }
        } catch {
          // Nobody waits for this body.
        }
      },
    };
    return { answer, reader };
  }

  /** Turns a refusal into the error it means; one that a repetition may overcome becomes a failed try. */
  async function refusal(request: HubRequest, answer: HubResponse, context: RequestContext): Promise<Error> {
    const { status, headers, fromHub } = answer;
    let body = '';
    try {
      body = new TextDecoder().decode(await answer.bytes(MAX_ERROR_BODY_BYTES));
    } catch (error) {
      context.signal?.throwIfAborted();
      if (!(error instanceof HubError || error instanceof RetryableError)) throw error;
    }
    const message = headers.get('x-error-message') ?? bodyMessage(headers.get('content-type'), body);
    const errorCode = headers.get('x-error-code');
    const subject = request.subject ?? context.subject;
    const final = (waitMs: number | null): HubError =>
      errorHandler({ status, errorCode, message, fromHub, waitMs }, subject);
    const header: HeaderReader = (name) => headers.get(name);
    if (!isRetryableStatus(status)) return final(null);
    return new RetryableError({ status, header, kind: request.kind, host: answer.url.host }, final);
  }

  async function recover(
    error: unknown,
    failures: number,
    sinceMs: number,
    context: RequestContext,
  ): Promise<void> {
    if (!(error instanceof RetryableError)) throw error;
    context.signal?.throwIfAborted();
    const { status, header, kind, host } = error;
    const nowMs = clock.nowMs();
    const untilMs = Math.min(
      sinceMs + context.retry.budgetMs,
      context.deadlineMs ?? Number.POSITIVE_INFINITY,
    );
    const plan = planRetry(
      {
        failures,
        status,
        header,
        nowMs: clock.dateMs(),
        remainingMs: untilMs - nowMs,
        random: clock.random(),
      },
      context.retry,
    );
    const waitMs = plan.retry ? plan.delayMs : plan.waitMs;
    if (status === 429 && waitMs !== null) closeWindow(kind, context, nowMs + waitMs);
    if (!plan.retry) throw error.final(plan.waitMs);
    const { delayMs, reason } = plan;
    const code = error.final(null).code;
    options.onRetry?.({ host, kind, status, code, failures: failures + 1, delayMs, reason });
    await clock.sleep(delayMs, context.signal);
  }

  /** The windows of the hub are per user and bucket: when one is used up, nobody asks again before its end. */
  function closeWindow(kind: RequestKind, context: RequestContext, untilMs: number): void {
    const key = windowKey(kind, context.token);
    for (const [other, endMs] of rateLimitedUntilMs)
      if (endMs < clock.nowMs()) rateLimitedUntilMs.delete(other);
    if (key !== null) rateLimitedUntilMs.set(key, Math.max(untilMs, rateLimitedUntilMs.get(key) ?? 0));
  }

  async function waitForWindow(request: HubRequest, context: RequestContext): Promise<void> {
    const key = request.url.origin === endpoint.origin ? windowKey(request.kind, context.token) : null;
    const untilMs = key === null ? undefined : rateLimitedUntilMs.get(key);
    if (key === null || untilMs === undefined) return;
    const nowMs = clock.nowMs();
    const waitMs = untilMs - nowMs;
    if (waitMs > 0) {
      const remainingMs = Math.min(
        context.retry.budgetMs,
        (context.deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs,
      );
      if (waitMs > remainingMs) {
        throw new HubError('hub_rate_limited', 'the hub limits the rate of requests', {
          details: { retryAfterMs: waitMs },
        });
      }
      await clock.sleep(waitMs, context.signal);
    }
    if (rateLimitedUntilMs.get(key) === untilMs) rateLimitedUntilMs.delete(key);
  }

  async function read<T>(
    request: HubRequest,
    context: RequestContext,
    use: (answer: HubResponse) => Promise<T>,
  ): Promise<T> {
    const sinceMs = clock.nowMs();
    for (let failures = 0; ; failures++) {
      try {
        const answer = await open(request, context);
        try {
          return await use(answer);
        } finally {
          await answer.discard();
        }
      } catch (error) {
        await recover(error, failures, sinceMs, context);
      }
    }
  }

  async function readJson(
    request: HubRequest,
    context: RequestContext,
    maxBytes: number,
  ): Promise<{ value: unknown; answer: HubResponse }> {
    return await read(request, context, async (answer) => {
      const bytes = await answer.bytes(maxBytes);
      try {
        return {
          value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown,
          answer,
        };
      } catch {
        throw new HubError('hub_bad_response', `${answer.url.host} did not answer with JSON`, {
          details: { status: answer.status },
        });
      }
    });
  }

  return { endpoint, clock, open, recover, read, readJson };
}

const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  zstd: 'zstd',
  br: 'br',
};

function windowKey(kind: RequestKind, token: string | undefined): string | null {
  if (kind === 'storage') return null;
  return `${kind === 'file' ? 'resolvers' : 'api'} ${token ?? ''}`;
}

function outOfTime(): HubError {
  return new HubError('hub_timeout', 'the hub did not deliver within the time for this request');
}

function redirectTarget(location: string, from: URL): URL {
  let target: URL;
  try {
    target = new URL(location, from);
  } catch {
    throw new HubError('hub_bad_response', `${from.host} redirects to something that is no address`);
  }
  const secure = target.protocol === 'https:';
  if (!secure && (target.protocol !== 'http:' || from.protocol === 'https:')) {
    throw new HubError('hub_bad_response', `${from.host} redirects to an insecure address`);
  }
  return target;
}

/** Codes of the runtime for "no connection within the time"; everything else is a broken or refused one. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

function transportError(error: unknown, host: string): HubError {
  let code = '';
  let isHttp = true;
  for (let at = error; at instanceof Error; at = at.cause) {
    code ||= String((at as { code?: unknown }).code ?? '');
    if (at.name === 'HTTPParserError') isHttp = false;
  }
  if (TIMEOUT_CODES.has(code))
    return new HubError('hub_timeout', `${host} did not answer in time`, { cause: error });
  if (!isHttp) {
    return new HubError('hub_bad_response', `${host} did not answer with HTTP`, { cause: error });
  }
  return new HubError('hub_unavailable', `${host} cannot be reached, or broke the connection off`, {
    cause: error,
  });
}

function startTimer(delayMs: number, run: () => void): ReturnType<typeof setTimeout> | undefined {
  return delayMs > MAX_TIMER_MS ? undefined : setTimeout(run, delayMs);
}

async function collect(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new HubError('hub_bad_response', `the hub's answer is longer than ${maxBytes} bytes`);
    }
    parts.push(chunk);
  }
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
