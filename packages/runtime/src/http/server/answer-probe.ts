import type { IncomingMessage, RequestListener } from 'node:http';
import type { Middleware } from '../request/middleware.ts';
import { requestState } from '../request/track-request.ts';
import type { BufferedResponse } from '../response/response.ts';
import { sendWhole } from '../response/send-response.ts';

/**
 * Answers the plain form of a probe in front of the app: every load balancer sends it every second, for ever, and it
 * must cost next to nothing. It passes the same layers as all requests. Whatever is special about a request (a query,
 * another method, a body, a wish for another media type), and whatever `admits` does not let in, is left to the app,
 * which has a route for it and answers with errors.
 */
export function answerProbe(
  path: string,
  layers: readonly Middleware[],
  admits: (request: IncomingMessage) => boolean,
  answer: () => BufferedResponse,
  app: RequestListener,
): RequestListener {
  const last: Middleware = (request, response) => {
    requestState(request).setRoute(path);
    sendWhole(request, response, answer());
  };
  const pass = layers.reduceRight<Middleware>(
    (next, layer) => (request, response, end) => layer(request, response, () => next(request, response, end)),
    last,
  );
  return (request, response) => {
    if (isPlain(request, path) && admits(request)) pass(request, response, () => undefined);
    else app(request, response);
  };
}

function isPlain({ method, url, headers }: IncomingMessage, path: string): boolean {
  return (
    url === path &&
    method === 'GET' &&
    headers.host !== undefined &&
    (headers.accept === undefined || headers.accept === '*/*') &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}
