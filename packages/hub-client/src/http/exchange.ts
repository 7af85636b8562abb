import { joinBytes } from '@svc/jsonl-v23/bytes';
import { type Compression, decompress } from '@svc/tabular';
import { HubError } from '../errors.ts';
import { RetryableError, transportError } from './errors.ts';
import type {
  HubRequest,
  HubResponse,
  RequestContext,
  RequestEvent,
  RequesterDeps,
  RequestKind,
} from './request.ts';
import type { ResponseHeaders, TransportResponse } from './transport.ts';

/** The longest delay of `setTimeout`. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Bounds one exchange in time, translates its errors, and reports its end once. */
class ExchangeGuard {
  readonly #deps: RequesterDeps;
  readonly #target: { readonly kind: RequestKind; readonly host: string };
  readonly #outerSignal: AbortSignal | undefined;
  readonly #stop = new AbortController();
  readonly #deadline: ReturnType<typeof setTimeout> | undefined;
  readonly #startedMs: number;
  #isFinished = false;
  bytes = 0;
  response: TransportResponse | null = null;

  /** @throws the signal's reason; HubError `hub_timeout` if the deadline has passed */
  constructor(
    deps: RequesterDeps,
    target: { readonly kind: RequestKind; readonly host: string },
    { signal, deadlineMs }: RequestContext,
  ) {
    signal?.throwIfAborted();
    this.#deps = deps;
    this.#target = target;
    this.#outerSignal = signal;
    this.#startedMs = deps.clock.nowMs();
    const remainingMs = (deadlineMs ?? Number.POSITIVE_INFINITY) - this.#startedMs;
    if (remainingMs <= 0) throw deadlineError();
    this.#deadline = startTimer(remainingMs, () => this.stop(deadlineError()));
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isAborted(): boolean {
    return this.#outerSignal?.aborted === true;
  }

  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** @param expectation what the host did not do, for the error */
  async run<T>(step: () => Promise<T>, timeoutMs: number, expectation: string): Promise<T> {
    const { host } = this.#target;
    const timer = startTimer(timeoutMs, () => {
      const error = new HubError('hub_timeout', `${host} did not ${expectation} within ${timeoutMs} ms.`);
      this.stop(new RetryableError(error, this.#target));
    });
    try {
      return await step();
    } catch (error) {
      throw this.fail(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the exchange after an error of the transport. @returns the error to throw */
  fail(error: unknown): unknown {
    this.finish('failed');
    if (this.signal.aborted) return this.signal.reason;
    // Repeating the request does not help against an error that the transport itself classifies.
    if (error instanceof HubError) return error;
    return new RetryableError(transportError(error, this.#target.host), this.#target);
  }

  finish(outcome: RequestEvent['outcome']): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#outerSignal?.removeEventListener('abort', this.#onAbort);
    clearTimeout(this.#deadline);
    this.#deps.onRequest?.({
      method: 'GET',
      ...this.#target,
      status: this.response?.status ?? null,
      outcome: this.isAborted && outcome === 'failed' ? 'aborted' : outcome,
      durationMs: this.#deps.clock.nowMs() - this.#startedMs,
      bytes: this.bytes,
      hubRequestId: this.response?.headers.get('x-request-id') ?? null,
    });
  }

  readonly #onAbort = (): void => this.stop(this.#outerSignal?.reason);
}

function deadlineError(): HubError {
  return new HubError('hub_timeout', 'The hub did not deliver within the time for this request.');
}

function startTimer(delayMs: number, run: () => void): ReturnType<typeof setTimeout> | undefined {
  return delayMs > MAX_TIMER_MS ? undefined : setTimeout(run, delayMs);
}

/** Rest of a body that is read so that its connection can serve the next request. */
const MAX_DRAINED_BYTES = 16 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 8;
const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  zstd: 'zstd',
  br: 'br',
};

/**
 * The token goes to the endpoint's own origin only: once a redirect has left it, the token is not sent again, even if the
 * chain comes back.
 */
export async function followRedirects(
  deps: RequesterDeps,
  request: HubRequest,
  context: RequestContext,
): Promise<HubResponse> {
  const { origin } = deps.endpoint;
  const hops: ResponseHeaders[] = [];
  let { url } = request;
  let onHub = url.origin === origin;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const from = url;
    const guard = new ExchangeGuard(
      deps,
      { kind: onHub ? request.kind : 'storage', host: url.host },
      context,
    );
    const headers: Record<string, string> = {
      accept: '*/*',
      // Sizes and ranges mean the bytes of the file.
      'accept-encoding': 'identity',
      'user-agent': deps.userAgent,
      ...request.headers,
      ...(onHub && context.token !== undefined ? { authorization: `Bearer ${context.token}` } : {}),
    };
    const response = await guard.run(
      () => deps.transport(from, headers, guard.signal),
      context.headersTimeoutMs ?? deps.headersTimeoutMs,
      'respond',
    );
    guard.response = response;
    const { status, headers: received } = response;
    const body = readBody(response, guard, deps.idleBodyTimeoutMs);
    const location = REDIRECTS.has(status) ? received.get('location') : null;
    if (location === null) {
      // If the runtime follows redirects itself, only the address tells where the response came from.
      const fromHub = onHub && response.url.origin === origin;
      return { status, headers: received, url: response.url, hops, fromHub, ...body };
    }
    if (onHub) hops.push(received);
    await body.discard();
    url = redirectTarget(location, url);
    onHub = onHub && url.origin === origin;
  }
  throw new HubError('hub_bad_response', `The hub redirects more than ${MAX_REDIRECTS} times.`);
}

function redirectTarget(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) {
    throw new HubError('hub_bad_response', `Cannot follow the redirect of ${from.host}: invalid address.`);
  }
  const target = new URL(location, from);
  const isSecure = target.protocol === 'https:';
  if (!isSecure && (target.protocol !== 'http:' || from.protocol === 'https:')) {
    throw new HubError('hub_bad_response', `Cannot follow the redirect of ${from.host}: insecure address.`);
  }
  return target;
}

/** The body of one response, which is read once or discarded. */
function readBody(
  response: TransportResponse,
  guard: ExchangeGuard,
  idleTimeoutMs: number,
): Pick<HubResponse, 'chunks' | 'bytes' | 'discard'> {
  /** Undefined once reading has ended. */
  let unread: AsyncIterator<Uint8Array> | undefined = response.body[Symbol.asyncIterator]();
  const compression = COMPRESSIONS[response.contentEncoding ?? ''];

  async function* encoded(): AsyncGenerator<Uint8Array> {
    const body = unread;
    if (body === undefined) return;
    const { status, bodyLength } = response;
    const outcome = REDIRECTS.has(status) ? 'redirect' : status >= 400 ? 'refused' : 'ok';
    let isOpen = true;
    try {
      while (true) {
        isOpen = false;
        const next = await guard.run(() => body.next(), idleTimeoutMs, 'send any bytes');
        if (next.done === true) break;
        isOpen = true;
        guard.bytes += next.value.length;
        yield next.value;
      }
      if (bodyLength !== null && guard.bytes < bodyLength) {
        throw guard.fail(new Error(`${guard.bytes} of ${bodyLength} bytes came`));
      }
      guard.finish(outcome);
    } finally {
      unread = undefined;
      if (isOpen) {
        guard.stop(new Error('The rest of the body is not needed.'));
        await body.return?.().catch(() => undefined);
        guard.finish(guard.isAborted ? 'aborted' : outcome);
      }
    }
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (compression === undefined) {
      yield* encoded();
      return;
    }
    try {
      yield* decompress(compression, (ended) => {
        ended.addEventListener('abort', () => guard.stop(ended.reason), { once: true });
        return encoded();
      });
    } catch (cause) {
      if (cause instanceof RetryableError || cause instanceof HubError || guard.isAborted) throw cause;
      const reason = `${response.url.host} sent a body that is not ${compression}`;
      throw new HubError('hub_bad_response', `Cannot read the response: ${reason}.`, { cause });
    }
  }

  return {
    chunks,
    async bytes(maxBytes) {
      const parts: Uint8Array[] = [];
      for await (const chunk of limitBytes(chunks(), maxBytes)) parts.push(chunk);
      return joinBytes(parts);
    },
    // A short body is read to its end, which keeps the connection.
    async discard() {
      if (unread === undefined) return;
      let left = MAX_DRAINED_BYTES;
      try {
        for await (const chunk of encoded()) {
          left -= chunk.length;
          if (left <= 0) break;
        }
      } catch {
        // The body is not needed.
      }
    },
  };
}

/** The chunks of a body. @throws HubError `hub_bad_response` if it has more than `maxBytes` */
export async function* limitBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new HubError('hub_bad_response', `The response of the hub is longer than ${maxBytes} bytes.`);
    }
    yield chunk;
  }
}
