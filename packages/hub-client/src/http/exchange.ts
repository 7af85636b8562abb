import { type Compression, decompress } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import { RetryableError } from './errors.ts';
import { ExchangeGuard } from './exchange-guard.ts';
import type { Clock, HubRequest, RequestContext, RequestEvent } from './request.ts';
import type { Transport, TransportResponse } from './transport.ts';

/** What sending requests needs. */
export interface ExchangeDeps {
  /** Origin of the hub, with a path if it has one. */
  readonly endpoint: URL;
  readonly transport: Transport;
  readonly userAgent: string;
  /** From a request to the headers of its response. */
  readonly headersTimeoutMs: number;
  /** Between two chunks of a body. */
  readonly idleBodyTimeoutMs: number;
  readonly clock: Clock;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
}

/** Rest of a body that is read so that its connection can serve the next request. */
const MAX_DRAINED_BYTES = 16 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  zstd: 'zstd',
  br: 'br',
};

/**
 * Sends one request, without following redirects.
 *
 * @param onHub whether `url` may receive the token
 * @throws RetryableError, HubError, or the signal's reason
 */
export async function sendRequest(
  deps: ExchangeDeps,
  request: HubRequest,
  url: URL,
  onHub: boolean,
  context: RequestContext,
): Promise<Exchange> {
  const kind = onHub ? request.kind : 'storage';
  const guard = new ExchangeGuard(deps, { kind, host: url.host }, context);
  const headers: Record<string, string> = {
    accept: '*/*',
    // Sizes and ranges mean the bytes of the file.
    'accept-encoding': 'identity',
    'user-agent': deps.userAgent,
    ...request.headers,
    ...(onHub && context.token !== undefined ? { authorization: `Bearer ${context.token}` } : {}),
  };
  const response = await guard.run(
    () => deps.transport(url, headers, guard.signal),
    context.headersTimeoutMs ?? deps.headersTimeoutMs,
    'respond',
  );
  guard.status = response.status;
  guard.hubRequestId = response.headers.get('x-request-id');
  return new Exchange(response, guard, deps.idleBodyTimeoutMs);
}

/** One response, whose body is read once or discarded. */
export class Exchange {
  readonly response: TransportResponse;
  readonly #guard: ExchangeGuard;
  readonly #idleTimeoutMs: number;
  /** Undefined once reading has ended. */
  #body: AsyncIterator<Uint8Array> | undefined;

  constructor(response: TransportResponse, guard: ExchangeGuard, idleTimeoutMs: number) {
    this.response = response;
    this.#guard = guard;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#body = response.body[Symbol.asyncIterator]();
  }

  /** Where the response redirects to; null if it does not. */
  get redirect(): string | null {
    return REDIRECTS.has(this.response.status) ? this.response.headers.get('location') : null;
  }

  /** The body, decoded. @throws RetryableError, HubError, or the signal's reason */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const guard = this.#guard;
    const compression = COMPRESSIONS[this.response.contentEncoding ?? ''];
    if (compression === undefined) {
      yield* this.#encoded();
      return;
    }
    try {
      yield* decompress(compression, (ended) => {
        ended.addEventListener('abort', () => guard.stop(ended.reason), { once: true });
        return this.#encoded();
      });
    } catch (cause) {
      if (cause instanceof RetryableError || cause instanceof HubError || guard.isAborted) throw cause;
      const reason = `${this.response.url.host} sent a body that is not ${compression}`;
      throw new HubError('hub_bad_response', `Cannot read the response: ${reason}.`, { cause });
    }
  }

  /** Ends the exchange without reading on. A short body is read to its end, which keeps the connection. */
  async discard(): Promise<void> {
    if (this.#body === undefined) return;
    let left = MAX_DRAINED_BYTES;
    try {
      for await (const chunk of this.#encoded()) {
        left -= chunk.length;
        if (left <= 0) break;
      }
    } catch {
      // The body is not needed.
    }
  }

  /** The body as it comes. */
  async *#encoded(): AsyncGenerator<Uint8Array> {
    const body = this.#body;
    if (body === undefined) return;
    const guard = this.#guard;
    const { status, bodyLength } = this.response;
    const outcome = REDIRECTS.has(status) ? 'redirect' : status >= 400 ? 'refused' : 'ok';
    let isOpen = true;
    try {
      while (true) {
        isOpen = false;
        const next = await guard.run(() => body.next(), this.#idleTimeoutMs, 'send any bytes');
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
      this.#body = undefined;
      if (isOpen) {
        guard.stop(new Error('The rest of the body is not needed.'));
        await body.return?.().catch(() => undefined);
        guard.finish(guard.isAborted ? 'aborted' : outcome);
      }
    }
  }
}
