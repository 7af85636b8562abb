import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWithContext } from '../context.ts';
import { followRoute } from './express-route.ts';
import { observeRequest, type RequestObservers } from './observe-request.ts';

/** A middleware of Express 5, or of anything that calls middleware like Express. */
export type ExpressMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Makes the first middleware of an Express 5 program. Every request gets an id (the client's `X-Request-ID`, or a new
 * one), which the response repeats and every line of the request has; at the end of the response, the request is logged
 * as `http.request` and counted under its route template.
 *
 * @example
 * const app = express();
 * app.use(expressRequests({ logger, metrics }));
 */
export function expressRequests(observers: RequestObservers): ExpressMiddleware {
  return (request, response, next) => {
    const observed = observeRequest(request, response, observers);
    followRoute(request, (template) => observed.setRoute(template));
    runWithContext(observed.context, next);
  };
}
