import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Metrics, RequestMeasurement } from '@svc/observability';
import { acceptRequestId, runWithContext, UNMATCHED_PATH } from '@svc/observability';
import { ANONYMOUS, type Caller } from '../access/authenticate.ts';
import { awaitsBody } from './awaits-body.ts';
import type { Middleware } from './middleware.ts';

/** The request was given up by the client. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientGone';
}

const key = Symbol('the state of a request');

type Tracked = IncomingMessage & { [key]?: RequestState };

/** The state of a request that has passed {@link trackRequest}. */
export function requestState(request: IncomingMessage): RequestState {
  const state = (request as Tracked)[key];
  if (state === undefined) throw new Error('the request has not been tracked');
  return state;
}

/**
 * The first layer: gives every request its id and context, every response `X-Request-ID`, and when the response
 * is over writes its log line and counts it; a client that went away counts as 499.
 */
export function trackRequest(logger: Logger, metrics: Metrics, stopSignal: AbortSignal): Middleware {
  return (request, response, next) => {
    // A header that is sent twice reaches us joined.
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

/** What the layers of one request share. */
export class RequestState {
  readonly id: string;
  readonly #response: ServerResponse;
  readonly #measurement: RequestMeasurement;
  readonly #stopSignal: AbortSignal;
  #client: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #answered = false;
  /** the route template, `__unmatched__` before it is known */
  route: string = UNMATCHED_PATH;
  caller: Caller = ANONYMOUS;
  /** the code of the error that was answered */
  code: string | undefined;
  /** how much of the body somebody has read */
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
   * Aborts when the client goes away before its answer is complete, or the service is forced to stop. Made when it is
   * asked for: most requests end before anything could be aborted.
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

  /** The answer is out, though its request may still be arriving. */
  setResponded(): void {
    this.#answered = true;
  }

  /** Counts the body while somebody else reads it, and does not begin to read it. */
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

  /** The connection is done with this answer. Gives the status code that counts. */
  end(): number {
    if (this.#response.writableFinished || this.#answered) return this.#response.statusCode;
    this.#leave();
    return 499;
  }

  #leave(): void {
    this.#client?.abort(new ClientDisconnectedError('the client went away'));
  }
}
