import type { IncomingMessage } from 'node:http';
import type { Logger, Metrics } from '@svc/observability';
import { acceptRequestId, runWithContext } from '@svc/observability';
import type { Layer } from './layer.ts';

/** What the layers of one request share. */
export interface RequestState {
  readonly id: string;
  /** aborts when the client goes away before its answer is complete, or the service is forced to stop */
  readonly signal: AbortSignal;
  /** the route template, `__unmatched__` before it is known */
  readonly route: string;
  setRoute(template: string): void;
  /** the code of the error that was answered */
  setCode(code: string): void;
  /** The answer is out, though its request may still be arriving. */
  setAnswered(): void;
}

const states = new WeakMap<IncomingMessage, RequestState>();

/** The state of a request that has passed {@link trackRequest}. */
export function requestState(request: IncomingMessage): RequestState {
  const state = states.get(request);
  if (state === undefined) throw new Error('the request has not been tracked');
  return state;
}

/** The request was given up by the client. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * The first layer: gives every request its id and context, every response `X-Request-ID`, and when the response
 * is over writes its log line and counts it; a client that went away counts as 499.
 */
export function trackRequest(logger: Logger, metrics: Metrics, stopSignal: AbortSignal): Layer {
  return (request, response, next) => {
    // A header that is sent twice reaches us joined.
    const id = acceptRequestId(request.headers['x-request-id'] as string | undefined);
    response.setHeader('X-Request-ID', id);
    const startedAt = performance.now();
    const measurement = metrics.startRequest({ method: request.method });
    let client: AbortController | undefined;
    let signal: AbortSignal | undefined;
    let route = '__unmatched__';
    let code: string | undefined;
    let answered = false;
    let bytesIn = 0;
    request.on('newListener', countBody);
    function countBody(event: string): void {
      if (event !== 'data') return;
      request.off('newListener', countBody);
      request.on('data', (chunk: Buffer) => {
        bytesIn += chunk.byteLength;
      });
    }
    const { socket } = response;
    const writtenBefore = socket?.bytesWritten ?? 0;
    response.once('close', () => {
      const complete = response.writableFinished || answered;
      const statusCode = complete ? response.statusCode : 499;
      if (!complete) client?.abort(new ClientGone('the client went away'));
      const durationMs = performance.now() - startedAt;
      measurement.finish({ statusCode, durationMs });
      runWithContext({ request_id: id }, () => {
        logger.log('http.request', {
          method: request.method ?? '',
          route,
          status_code: statusCode,
          duration_ms: Math.round(durationMs * 1000) / 1000,
          bytes_in: bytesIn,
          bytes_out: (socket?.bytesWritten ?? 0) - writtenBefore,
          ...(code === undefined ? {} : { code }),
        });
      });
    });
    states.set(request, {
      id,
      // Made when it is asked for: most requests end before anything could be aborted.
      get signal() {
        if (signal === undefined) {
          client = new AbortController();
          signal = AbortSignal.any([client.signal, stopSignal]);
          if (response.closed && !response.writableFinished)
            client.abort(new ClientGone('the client went away'));
        }
        return signal;
      },
      get route() {
        return route;
      },
      setRoute: (template) => {
        route = template;
        measurement.setRoute(template);
      },
      setCode: (value) => {
        code = value;
      },
      setAnswered: () => {
        answered = true;
      },
    });
    runWithContext({ request_id: id }, next);
  };
}
