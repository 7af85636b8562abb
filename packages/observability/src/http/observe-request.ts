import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ContextFields, runWithContext } from '../context.ts';
import { type Metrics, type RequestMeasurement, UNMATCHED_PATH } from '../create-metrics.ts';
import type { RequestErrorFields, RequestFields } from '../event.ts';

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
    const stated = (headers['x-request-id'] as string | undefined) ?? '';
    this.idError = stated.length > MAX_REQUEST_ID_CHARS ? new RequestIdError(stated.length) : undefined;
    this.id = acceptRequestId(this.idError === undefined ? stated : undefined);
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

/** A new request id: the 32 lower-case hex digits of a random UUID (RFC 9562 section 5.4). */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/** The id is repeated in the response and in every log line. */
const MAX_REQUEST_ID_CHARS = 1_024;

/** Why a request is refused whose id is too long: 431 in Express. */
export class RequestIdError extends Error {
  override readonly name = 'RequestIdError';
  readonly code = 'request_id_too_long';
  readonly status = 431;
  readonly statusCode = 431;

  constructor(chars: number) {
    super(`X-Request-ID must have at most ${MAX_REQUEST_ID_CHARS} characters, got ${chars}.`);
  }
}

/**
 * The id of a request from its `X-Request-ID` header: the client's value unchanged, or a new one if the header is absent
 * or empty. Several headers count as one, as Node joins them (`a, b`).
 *
 * @throws RequestIdError if it has more than 1,024 characters
 */
export function acceptRequestId(header: string | undefined): string {
  if (header === undefined || header === '') return newRequestId();
  if (header.length > MAX_REQUEST_ID_CHARS) throw new RequestIdError(header.length);
  return header;
}

/** The ids of a `traceparent` header. */
export interface TraceContext {
  /** 32 lower-case hex digits, the same in every service that works on a request. */
  readonly trace_id: string;
  /** 16 lower-case hex digits: the span of the caller. */
  readonly span_id: string;
}

// https://www.w3.org/TR/trace-context/#traceparent-header; a later version may append more after a dash
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Longest header that is read; version 00 has 55 characters. */
const MAX_LENGTH = 512;

/** Reads a W3C `traceparent` header. Undefined for an absent or invalid one, which the standard says to ignore. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, version, trace_id, span_id, more] = TRACEPARENT.exec(header) ?? [];
  if (trace_id === undefined || span_id === undefined) return undefined;
  return version === '00' && more !== undefined ? undefined : { trace_id, span_id };
}
