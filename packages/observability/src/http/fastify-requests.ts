import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWithContext } from '../context.ts';
import { UNMATCHED_PATH } from '../request-metrics.ts';
import { type ObservedRequest, observeRequest, type RequestObservers } from './observe-request.ts';

/** The members of Fastify's request that the plugin reads. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage;
  id: string;
  readonly is404: boolean;
  readonly routeOptions: { readonly url?: string | undefined };
}

/** The member of Fastify's reply that the plugin uses. */
export interface FastifyReplyLike {
  readonly raw: ServerResponse;
}

type Done = (error?: Error) => void;

/** The hooks of a Fastify 5 program that the plugin adds. */
export interface FastifyHooks {
  addHook(
    name: 'onRequest' | 'preValidation',
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike, done: Done) => void,
  ): unknown;
  addHook(
    name: 'onError',
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike, error: Error, done: () => void) => void,
  ): unknown;
}

/** A plugin for `app.register`. */
export type FastifyPlugin = (app: FastifyHooks, options: unknown, done: Done) => void;

/**
 * Makes a plugin of Fastify 5; register it before the routes. Every request gets an id (the client's `X-Request-ID`, or
 * a new one), which the response repeats and every line of the request has; at the end of the response, the request is
 * logged as `http.request` and counted under its route template. If the response to an error is 5xx, the error is logged
 * as `http.error`, at level `error`. A longer id than 1,024 characters is an error with the status 431. Fastify's own
 * logger is not used.
 *
 * @example
 * const app = fastify();
 * await app.register(fastifyRequests({ logger, metrics }));
 */
export function fastifyRequests(observers: RequestObservers): FastifyPlugin {
  const observedRequests = new WeakMap<IncomingMessage, ObservedRequest>();
  const plugin: FastifyPlugin = (app, _options, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      const observed = observeRequest(request.raw, reply.raw, observers);
      observedRequests.set(request.raw, observed);
      observed.setRoute(request.is404 ? UNMATCHED_PATH : (request.routeOptions.url ?? UNMATCHED_PATH));
      request.id = observed.id;
      runWithContext(observed.context, () => next(observed.idError));
    });
    // A body is parsed in listeners of the socket, which do not have the context of the hook before.
    app.addHook('preValidation', (request, _reply, next) => {
      runWithContext(observedRequests.get(request.raw)?.context ?? {}, next);
    });
    app.addHook('onError', (request, _reply, error, next) => {
      observedRequests.get(request.raw)?.setError(error);
      next();
    });
    done();
  };
  // Without it, hooks would hold only for the routes that the plugin itself adds.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: '@svc/observability',
  });
}
