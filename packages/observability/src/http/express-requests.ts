import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWithContext } from '../context.ts';
import { followRoute } from './express-route.ts';
import { type ObservedRequest, observeRequest, type RequestObservers } from './observe-request.ts';

/** A middleware of Express 5, or of anything that calls middleware like Express. */
export type ExpressMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** An error middleware of Express 5. */
export type ExpressErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Makes the first middleware of an Express 5 program. Every request gets an id (the client's `X-Request-ID`, or a new
 * one), which the response repeats and every line of the request has; at the end of the response, the request is logged
 * as `http.request` and counted under its route template. A longer id than 1,024 characters is an error with the status
 * 431.
 *
 * @example
 * const app = express();
 * app.use(expressRequests({ logger, metrics }));
 * app.use(routes);
 * app.use(expressErrors());
 */
export function expressRequests(observers: RequestObservers): ExpressMiddleware {
  return (request, response, next) => {
    const observed = observeRequest(request, response, observers);
    observedRequests.set(request, observed);
    followRoute(request, (template) => observed.setRoute(template));
    runWithContext(observed.context, () => next(observed.idError));
  };
}

const observedRequests = new WeakMap<IncomingMessage, ObservedRequest>();

/**
 * Makes an error middleware of an Express 5 program; use it after the routes, before your own error middleware. If the
 * response to an error is 5xx, the error is logged as `http.error`, at level `error`. The line of the request has its
 * `code`.
 */
export function expressErrors(): ExpressErrorMiddleware {
  // Express tells an error middleware by its four parameters.
  return (error, request, _response, next) => {
    observedRequests.get(request)?.setError(error);
    next(error);
  };
}
