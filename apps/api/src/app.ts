import type { RequestListener } from 'node:http';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { createRedactor, type Logger, type Metrics, type Redactor } from '@svc/observability';
import {
  type Access,
  ANONYMOUS,
  addressOf,
  admitHost,
  answerProbe,
  awaitsBody,
  ClientDisconnectedError,
  type Config,
  clientOf,
  createAuthenticator,
  createRouteCompiler,
  createStreamPermits,
  denied,
  discardBody,
  endResponse,
  endWithText,
  limitRate,
  type Middleware,
  networkOf,
  RequestError,
  type Route,
  type RouteRequest,
  type RouteValidator,
  readJsonBody,
  requestState,
  type StreamPermits,
  securityHeaders,
  sendResponse,
  slowDownFailures,
  trackRequest,
  withIdleTimeout,
} from '@svc/runtime';
import cors from 'cors';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { isInternalError, isOutage, toProblem } from './http/problem.ts';
import { checkHealth } from './routes/service/operation.ts';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** aborts when running requests must end, drained or not */
  readonly stopSignal: AbortSignal;
  readonly isDraining: () => boolean;
  /** what no answer may repeat */
  readonly secrets: readonly string[];
}

/** A probe needs no key and has no rate. */
const PROBES: readonly string[] = ['/healthz', '/readyz'];

/** What a path asks for before anything is known about it: whoever has no key learns nothing about what exists. */
function accessOf(path: string): Access {
  if (PROBES.includes(path) || path === '/openapi.json' || /^\/docs(?:\/|$)/.test(path)) return 'public';
  return path === '/metrics' ? 'metrics' : 'viewer';
}

/** Headers that pages of other origins may read. */
const EXPOSED_HEADERS: string[] = [
  'X-Request-ID',
  'Location',
  'Retry-After',
  'ETag',
  'Content-Disposition',
  'RateLimit',
  'RateLimit-Policy',
];

/**
 * Builds the Express app: its layers in order, then the routes. It does not listen and reads no environment.
 */
export function createApp({
  routes,
  config,
  logger,
  metrics,
  stopSignal,
  isDraining,
  secrets,
}: AppOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  const authenticate = createAuthenticator(config.apiKeys, config.metricsKey);
  const admission = admitHost(config);

  // What every answer has, whoever gives it.
  const layers: readonly Middleware[] = [
    trackRequest(logger, metrics, stopSignal),
    keepConnection(isDraining),
    securityHeaders(config.trustProxy),
    admission.layer,
    ...(config.corsOrigins.length > 0 ? [answerPages(config.corsOrigins)] : []),
  ];
  for (const layer of layers) app.use(layer);
  app.use((request, _response, next) => {
    const isOpen = accessOf(request.path) === 'public';
    requestState(request).caller = isOpen ? ANONYMOUS : authenticate(request.get('authorization'));
    next();
  });
  if (config.rateLimitPerMinute > 0) {
    const limit = limitRate(config.rateLimitPerMinute, (request) => clientOf(request, config.trustProxy));
    // A probe that is refused would make its orchestrator end a service that is well.
    app.use((request, response, next) => {
      if (PROBES.includes(request.path)) next();
      else limit(request, response, next);
    });
  }
  app.use(refuseGuesses(config));
  app.use((request, _response, next) => {
    const { caller } = requestState(request);
    const access = accessOf(request.path);
    if (!caller.may(access)) throw denied(caller, access);
    next();
  });

  const compile = createRouteCompiler();
  const permits = createStreamPermits(config);
  for (const route of routes) mount(app, route, compile(route), config, permits);
  for (const [path, methods] of methodsByPath(routes)) {
    app.all(path, (request, response) => {
      requestState(request).setRoute(path);
      if (request.method === 'OPTIONS') {
        response.setHeader('Allow', methods.join(', '));
        endResponse(request, response.status(204));
        return;
      }
      throw new RequestError('method_not_allowed', `${request.method} is not allowed on ${path}`, {
        headers: { Allow: methods.join(', ') },
      });
    });
  }
  app.use((request) => {
    throw new RequestError('not_found', `there is nothing at ${request.path.slice(0, 200)}`);
  });
  app.use(errorHandler(logger, createRedactor(secrets)));
  return answerProbe('/healthz', layers, admission.admits, () => checkHealth(logger), app);
}

/** What is left of a request's body is let go; while we drain, a kept-alive connection ends with its answer. */
function keepConnection(isDraining: () => boolean): Middleware {
  return (request, response, next) => {
    if (awaitsBody(request)) response.once('finish', () => discardBody(request));
    if (isDraining()) response.setHeader('Connection', 'close');
    next();
  };
}

/** Refuses whoever tries one key after the other; see `slowDownFailures`. */
function refuseGuesses({ failedKeysPerMinute, trustProxy }: Config): Middleware {
  const failures = slowDownFailures(failedKeysPerMinute);
  return (request, _response, next) => {
    const { key, isWrong } = requestState(request).caller;
    const waitSeconds =
      key === undefined && !isWrong ? 0 : failures.attempt(networkOf(addressOf(request, trustProxy)), key);
    if (waitSeconds > 0) {
      throw new RequestError('rate_limited', `more than ${failedKeysPerMinute} wrong keys a minute`, {
        headers: { 'Retry-After': String(waitSeconds) },
      });
    }
    next();
  };
}

/** Lets the pages of some origins read answers (Fetch standard, CORS protocol). */
function answerPages(origins: readonly string[]): Middleware {
  const answer = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  });
  return (request, response, next) => {
    // Only what a browser asks ahead, without a key (Fetch standard, CORS-preflight), is answered before the keys.
    const isPreflight = request.headers.origin && request.headers['access-control-request-method'];
    if (request.method === 'OPTIONS' && !isPreflight) next();
    else answer(request, response, next);
  };
}

/** `/datasets/{id}` as Express and the metrics write it: `/datasets/:id`. */
const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, method } of routes) {
    const methods = found.get(expressPath(path)) ?? ['OPTIONS'];
    methods.push(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    found.set(expressPath(path), methods.sort());
  }
  return found;
}

function mount(
  app: Express,
  route: Route,
  validator: RouteValidator,
  config: Config,
  permits: StreamPermits,
): void {
  const path = expressPath(route.path);
  app[route.method](path, async (request: Request, response: Response) => {
    const state = requestState(request);
    state.setRoute(path);
    const { caller } = state;
    if (!caller.may(route.access)) throw denied(caller, route.access);
    if (!request.accepts([route.produces, 'application/json'])) {
      throw new RequestError('not_acceptable', `the answer is ${route.produces}`);
    }
    const query = validator.query(request.query);
    using _permit =
      route.streams === undefined
        ? undefined
        : await permits[route.streams].acquire(clientOf(request, config.trustProxy), state.signal);
    const routeRequest = (body: JsonObject | null, signal: AbortSignal | undefined): RouteRequest => ({
      params: request.params as Record<string, string>,
      query,
      body,
      header: (name) => request.get(name),
      get signal() {
        return signal ?? state.signal;
      },
      raw: request,
    });
    const answer =
      route.body === undefined
        ? await route.handle(routeRequest(null, undefined))
        : await withIdleTimeout(request, config.idleBodyTimeoutMs, state.signal, async (signal) => {
            const isJson = route.body?.contentType === 'application/json';
            const body = isJson ? validator.body(await readJsonBody(request, config, signal)) : null;
            return await route.handle(routeRequest(body, signal));
          });
    await sendResponse(request, response, answer, () => state.signal, config.slowReaderTimeoutMs);
  });
}

function errorHandler(logger: Logger, redact: Redactor): ErrorRequestHandler {
  return (thrown: unknown, request: Request, response: Response, _next): void => {
    const state = requestState(request);
    const error = fromExpress(thrown);
    if (error instanceof ClientDisconnectedError || response.destroyed) return void response.destroy();
    const instance = request.path;
    const problem = toProblem(error, { instance, requestId: state.id }, redact);
    state.code = problem.body.code;
    const { route } = state;
    if (isInternalError(error)) logger.log('error.internal', { error, method: request.method, route });
    else if (isOutage(error)) logger.log('error.unavailable', { error, method: request.method, route });
    if (response.headersSent) {
      // A stream that failed half-way must not look complete.
      response.destroy();
      return;
    }
    for (const name of ['Content-Disposition', 'Content-Length', 'ETag', 'Location'])
      response.removeHeader(name);
    response.setHeader('Content-Type', 'application/json');
    for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
    response.statusCode = problem.status;
    endWithText(request, response, JSON.stringify(problem.body));
  };
}

/** Express itself refuses paths that are not percent-encoded text. */
function fromExpress(error: unknown): unknown {
  if (error instanceof URIError || (error as { status?: number } | null)?.status === 400) {
    return error instanceof RequestError
      ? error
      : new RequestError('invalid_request', 'the path is not percent-encoded text', { cause: error });
  }
  return error;
}
