import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ObservedRequest, observeRequest, type RequestFields, runWithContext } from '@svc/observability';
import type { RequestHandler } from 'express';
import type { Logger } from '../../telemetry/create-logger.ts';
import type { Metrics } from '../../telemetry/create-metrics.ts';
import { ANONYMOUS, type Caller } from '../access/authenticate.ts';
import { RequestError } from './request-error.ts';

/** The client closed the connection before the end of the response. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}

/** Routes that programs ask every few seconds. */
const PROBED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

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
  const stop = new StopList(stopSignal);
  const quietly = {
    log: (event: 'http.request', fields: RequestFields) =>
      logger.log(PROBED.has(fields.route) ? 'http.probe' : event, fields),
  };
  return (request, response, next) => {
    response.once('close', () => requestState(request).end());
    const observed = observeRequest(request, response, { logger: quietly, metrics });
    (request as Tracked)[key] = new RequestState(observed, response, stop);
    runWithContext(observed.context, next);
  };
}

/** The running requests that are to end when the service is forced to stop: one listener for all of them. */
class StopList {
  readonly #signal: AbortSignal;
  readonly #running = new Set<AbortController>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    const onAbort = (): void => {
      for (const running of this.#running) running.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  }

  add(running: AbortController): void {
    if (this.#signal.aborted) running.abort(this.#signal.reason);
    else this.#running.add(running);
  }

  remove(running: AbortController): void {
    this.#running.delete(running);
  }
}

/** What the middleware of one request shares. */
export class RequestState {
  /** Its id, its route and the code of its error, for the log. */
  readonly observed: ObservedRequest;
  readonly #response: ServerResponse;
  readonly #stop: StopList;
  #ending: AbortController | undefined;
  #caller: Caller = ANONYMOUS;

  constructor(observed: ObservedRequest, response: ServerResponse, stop: StopList) {
    this.observed = observed;
    this.#response = response;
    this.#stop = stop;
    observed.setActor(ANONYMOUS.name);
  }

  get caller(): Caller {
    return this.#caller;
  }

  /** Later log lines have the caller's name. */
  identify(caller: Caller, next: () => void): void {
    this.#caller = caller;
    this.observed.setActor(caller.name);
    runWithContext({ actor: caller.name }, next);
  }

  /** Later log lines, and the line of the request, do not name the caller, who is known all the same. */
  async disguise<T>(next: () => Promise<T>): Promise<T> {
    this.observed.setActor(ANONYMOUS.name);
    return await runWithContext({ actor: ANONYMOUS.name }, next);
  }

  /** @throws RequestError `request_id_too_long` */
  checkId(): void {
    const { idError } = this.observed;
    if (idError !== undefined) throw new RequestError('request_id_too_long', idError.message);
  }

  /**
   * Aborts when the client disconnects before the end of the response, or the service is forced to stop. Created on
   * first use: most requests never need it.
   */
  get signal(): AbortSignal {
    if (this.#ending === undefined) {
      this.#ending = new AbortController();
      if (!this.#response.closed) this.#stop.add(this.#ending);
      else if (!this.observed.isComplete) this.#leave();
    }
    return this.#ending.signal;
  }

  end(): void {
    if (this.#ending !== undefined) this.#stop.remove(this.#ending);
    if (!this.observed.isComplete) this.#leave();
  }

  #leave(): void {
    this.#ending?.abort(new ClientDisconnectedError('The client disconnected.'));
  }
}
