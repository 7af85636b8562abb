import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Metrics } from '@svc/instrumentation';
import { type ObservedRequest, observeRequest, runWithContext } from '@svc/observability';
import type { RequestHandler } from 'express';
import { ANONYMOUS, type Caller } from '../access/authenticate.ts';

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
    response.once('close', () => requestState(request).end());
    const observed = observeRequest(request, response, { logger, metrics });
    (request as Tracked)[key] = new RequestState(observed, response, stopSignal);
    runWithContext(observed.context, next);
  };
}

/** What the middleware of one request shares. */
export class RequestState {
  readonly #observed: ObservedRequest;
  readonly #response: ServerResponse;
  readonly #stopSignal: AbortSignal;
  #client: AbortController | undefined;
  #signal: AbortSignal | undefined;
  caller: Caller = ANONYMOUS;

  constructor(observed: ObservedRequest, response: ServerResponse, stopSignal: AbortSignal) {
    this.#observed = observed;
    this.#response = response;
    this.#stopSignal = stopSignal;
  }

  get id(): string {
    return this.#observed.id;
  }

  /** The route template, `__unmatched__` before it is known. */
  get route(): string {
    return this.#observed.route;
  }

  /**
   * Aborts when the client disconnects before the end of the response, or the service is forced to stop. Created on
   * first use: most requests never need it.
   */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#client = new AbortController();
      this.#signal = AbortSignal.any([this.#client.signal, this.#stopSignal]);
      if (this.#response.closed && !this.#observed.isComplete) this.#leave();
    }
    return this.#signal;
  }

  setRoute(template: string): void {
    this.#observed.setRoute(template);
  }

  /** Sets the code of an error response, for the log. */
  setCode(code: string): void {
    this.#observed.code = code;
  }

  /** The response is complete, though its request may still be arriving. */
  setResponded(): void {
    this.#observed.setResponded();
  }

  /** Ends the request when its connection or response has closed. */
  end(): void {
    if (!this.#observed.isComplete) this.#leave();
  }

  #leave(): void {
    this.#client?.abort(new ClientDisconnectedError('The client disconnected.'));
  }
}
