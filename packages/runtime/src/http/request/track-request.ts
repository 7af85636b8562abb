import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Metrics, RequestMeasurement } from '@svc/observability';
import { acceptRequestId, runWithContext, UNMATCHED_PATH } from '@svc/observability';
import type { RequestHandler } from 'express';
import { ANONYMOUS, type Caller } from '../access/authenticate.ts';
import { awaitsBody } from './awaits-body.ts';

/** The client closed the connection before the end of the response. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}

const key = Symbol('request state');

type Tracked = IncomingMessage & { [key]?: RequestState };

/** The state of a request that has passed {@link trackRequest}. */
export function requestState(request: IncomingMessage): RequestState {
  const state = (request as Tracked)[key];
  if (state === undefined)
    throw new Error('Cannot read the state of a request that `trackRequest` has not seen.');
  return state;
}

/**
 * The first middleware: gives every request an id and a context, every response `X-Request-ID`, and at the end of the
 * response writes the log line and counts it. A client that disconnects counts as 499.
 */
export function trackRequest(logger: Logger, metrics: Metrics, stopSignal: AbortSignal): RequestHandler {
  return (request, response, next) => {
    // Node joins repeated headers.
    const id = acceptRequestId(request.headers['x-request-id'] as string | undefined);
    response.setHeader('X-Request-ID', id);
    const startedAt = performance.now();
    const measurement = metrics.startRequest({ method: request.method });
    const state = new RequestState(id, response, measurement, stopSignal);
    (request as Tracked)[key] = state;
    if (awaitsBody(request)) state.countBody(request);
    const { socket } = response;
    const writtenBefore = socket?.bytesWritten ?? 0;
    response.once('close', () => {
      const statusCode = state.end();
      const durationMs = performance.now() - startedAt;
      measurement.finish({ statusCode, durationMs });
      runWithContext({ request_id: id }, () => {
        logger.log('http.request', {
          method: request.method ?? '',
          route: state.route,
          status_code: statusCode,
          duration_ms: Math.round(durationMs * 1000) / 1000,
          bytes_in: state.bytesIn,
          bytes_out: (socket?.bytesWritten ?? 0) - writtenBefore,
          ...(state.code === undefined ? {} : { code: state.code }),
        });
      });
    });
    runWithContext({ request_id: id }, next);
  };
}

/** What the middleware of one request shares. */
export class RequestState {
  readonly id: string;
  readonly #response: ServerResponse;
  readonly #measurement: RequestMeasurement;
  readonly #stopSignal: AbortSignal;
  #client: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #isResponded = false;
  /** The route template, `__unmatched__` before it is known. */
  route: string = UNMATCHED_PATH;
  caller: Caller = ANONYMOUS;
  /** The code of an error response. */
  code: string | undefined;
  /** Bytes of the body that were read. */
  bytesIn = 0;

  constructor(
    id: string,
    response: ServerResponse,
    measurement: RequestMeasurement,
    stopSignal: AbortSignal,
  ) {
    this.id = id;
    this.#response = response;
    this.#measurement = measurement;
    this.#stopSignal = stopSignal;
  }

  /**
   * Aborts when the client disconnects before the end of the response, or the service is forced to stop. Created on
   * first use: most requests never need it.
   */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#client = new AbortController();
      this.#signal = AbortSignal.any([this.#client.signal, this.#stopSignal]);
      if (this.#response.closed && !this.#response.writableFinished) this.#leave();
    }
    return this.#signal;
  }

  setRoute(template: string): void {
    this.route = template;
    this.#measurement.setRoute(template);
  }

  /** The response is complete, though its request may still be arriving. */
  setResponded(): void {
    this.#isResponded = true;
  }

  /** Counts the bytes of the body as another listener reads them, without starting to read. */
  countBody(request: IncomingMessage): void {
    const begin = (event: string): void => {
      if (event !== 'data') return;
      request.off('newListener', begin);
      request.on('data', (chunk: Buffer) => {
        this.bytesIn += chunk.byteLength;
      });
    };
    request.on('newListener', begin);
  }

  /** Ends the request. Returns the status code to log: 499 when the client has disconnected. */
  end(): number {
    if (this.#response.writableFinished || this.#isResponded) return this.#response.statusCode;
    this.#leave();
    return 499;
  }

  #leave(): void {
    this.#client?.abort(new ClientDisconnectedError('The client disconnected.'));
  }
}
