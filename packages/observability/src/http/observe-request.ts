import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ContextFields, runWithContext } from '../context.ts';
import type { Metrics, RequestMeasurement } from '../metrics.ts';
import { acceptRequestId, newRequestId, RequestIdError } from '../request-id.ts';
import { UNMATCHED_PATH } from '../request-metrics.ts';
import { parseTraceparent } from '../trace-context.ts';
import type { RequestErrorFields, RequestFields } from './request-event.ts';

/** Where requests are logged and counted. */
export interface RequestObservers {
  /** From `createLogger`, which knows `http.error` too, whatever events a program declares. */
  readonly logger: { log(event: 'http.request', fields: RequestFields): void };
  readonly metrics: Pick<Metrics, 'startRequest'>;
}

interface ErrorLogger {
  log(event: 'http.request' | 'http.error', fields: RequestFields | RequestErrorFields): void;
}

/**
 * Observes a request of `node:http` until the end of its response: sets the header `X-Request-ID`, counts the request,
 * and writes the event `http.request`, after `http.error` if the response is 5xx and `setError` said why. Run the handler inside `runWithContext(observed.context, ...)`, so that its lines
 * have the ids too.
 */
export function observeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  observers: RequestObservers,
): ObservedRequest {
  return new ObservedRequest(request, response, observers);
}

/** A request that is counted and logged at the end of its response. */
export class ObservedRequest {
  /** The client's `X-Request-ID`, or a new id. */
  readonly id: string;
  /** Set if the client's id is too long: the request is to be refused, and has a new id. */
  readonly idError: RequestIdError | undefined;
  /** `request_id`, and the `trace_id` and `span_id` of a `traceparent` header. */
  get context(): ContextFields {
    return this.#context;
  }
  /** The stable code of an error response, for the log. */
  code: string | undefined;
  #context: ContextFields;
  readonly #response: ServerResponse;
  readonly #measurement: RequestMeasurement;
  #route: string = UNMATCHED_PATH;
  #isResponded = false;
  #bytesIn = 0;
  #error: unknown;

  constructor(request: IncomingMessage, response: ServerResponse, { logger, metrics }: RequestObservers) {
    const { headers, method } = request;
    // Node joins repeated headers.
    const stated = idOf(headers['x-request-id'] as string | undefined);
    this.idError = typeof stated === 'string' ? undefined : stated;
    this.id = typeof stated === 'string' ? stated : newRequestId();
    const trace = parseTraceparent(headers['traceparent'] as string | undefined);
    this.#context = trace === undefined ? { request_id: this.id } : { request_id: this.id, ...trace };
    this.#response = response;
    response.setHeader('X-Request-ID', this.id);
    const startedAt = performance.now();
    this.#measurement = metrics.startRequest({ method });
    countBody(request, (byteCount) => {
      this.#bytesIn += byteCount;
    });
    const { socket } = response;
    const writtenBefore = socket?.bytesWritten ?? 0;
    // With pipelined requests, `writableFinished` is false again while the socket writes the next response.
    response.once('finish', () => this.setResponded());
    response.once('close', () => {
      const { statusCode } = this;
      const durationMs = performance.now() - startedAt;
      this.#measurement.finish({ statusCode, durationMs });
      runWithContext(this.context, () => {
        const error = this.#error;
        if (error !== undefined && statusCode >= 500) {
          (logger as ErrorLogger).log('http.error', {
            method: method ?? '',
            route: this.#route,
            status_code: statusCode,
            error,
          });
        }
        logger.log('http.request', {
          method: method ?? '',
          route: this.#route,
          status_code: statusCode,
          duration_ms: Math.round(durationMs * 1000) / 1000,
          bytes_in: this.#bytesIn,
          bytes_out: (socket?.bytesWritten ?? 0) - writtenBefore,
          ...(this.code === undefined ? {} : { code: this.code }),
        });
      });
    });
  }

  /** The route template, `__unmatched__` before it is known. */
  get route(): string {
    return this.#route;
  }

  /** Names the route, with its mount: `/datasets/:id`. */
  setRoute(template: string): void {
    this.#route = template;
    this.#measurement.setRoute(template);
  }

  /** States who asks, as soon as that is known: `actor` of the lines of the request. */
  setActor(actor: string): void {
    this.#context = { ...this.#context, actor };
  }

  /** States what made the response an error: its `code` for the log, and the error itself if the response is 5xx. */
  setError(error: unknown): void {
    this.#error = error;
    const code = (error as { readonly code?: unknown } | null | undefined)?.code;
    if (typeof code === 'string') this.code = code;
  }

  /** States that the response is complete, though its request may still be arriving. */
  setResponded(): void {
    this.#isResponded = true;
  }

  /** Whether the response is complete; after the connection has closed, whether the client waited for it. */
  get isComplete(): boolean {
    return this.#response.writableFinished || this.#isResponded;
  }

  /** The status code of the log: 499 if the client disconnected. */
  get statusCode(): number {
    return this.isComplete ? this.#response.statusCode : 499;
  }
}

function idOf(header: string | undefined): string | RequestIdError {
  try {
    return acceptRequestId(header);
  } catch (error) {
    if (error instanceof RequestIdError) return error;
    throw error;
  }
}

/** Counts the bytes of a request's body as another listener reads them, without starting to read. */
function countBody(request: IncomingMessage, count: (byteCount: number) => void): void {
  if (!awaitsBody(request)) return;
  const begin = (event: string): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', begin);
    if (event === 'data') request.on('data', (chunk: Buffer) => count(chunk.byteLength));
    else countReads(request, count);
  };
  request.on('newListener', begin);
}

/** For a reader that takes the chunks itself, such as `for await`; a listener for `data` would disturb it. */
function countReads(request: IncomingMessage, count: (byteCount: number) => void): void {
  const { read } = request;
  request.read = function (size) {
    const chunk: unknown = read.call(this, size);
    if (typeof chunk === 'string') count(Buffer.byteLength(chunk));
    else if (chunk instanceof Uint8Array) count(chunk.byteLength);
    return chunk;
  };
}

/** Whether the request has a body (RFC 9112 section 6.3) that has not ended. */
function awaitsBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
