import type { IncomingMessage } from 'node:http';
import { createRedactor } from '@svc/observability';
import cors from 'cors';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { isLoopback, isOrigin, parseAuthority } from '../config/authority.ts';
import type { Config } from '../config/load-config.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import type { Metrics } from '../telemetry/create-metrics.ts';
import {
  type Access,
  type Authenticator,
  type Caller,
  createAuthenticator,
  forbidden,
} from './access/authenticate.ts';
import { addressOf, admitHost, schemeOf } from './access/hosts.ts';
import { type Keys, SESSION_COOKIE, type Sessions, setSessionCookie } from './access/keys.ts';
import { clientOf, limitRate, networkOf, slowDownFailures } from './access/limits.ts';
import { mountRoutes } from './mount-routes.ts';
import { type ErrorView, errorHandler } from './problem.ts';
import { awaitsBody } from './request/read-body.ts';
import { RequestError, retryLater } from './request/request-error.ts';
import { requestState, trackRequest } from './request/track-request.ts';
import { discardBody } from './response/send-response.ts';
import type { Route } from './route.ts';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * The access that a path needs before it is routed, so that clients without a key cannot probe for what exists.
   */
  readonly accessOf: (path: string) => Access;
  readonly keys: Keys;
  /** Runs what follows for the caller of a request. Default: just runs it. */
  readonly actAs?: (caller: Caller, requestId: string, next: () => void) => void;
  /** Whether everything that is worth protecting needs a key; hosts are then checked only if some are configured. */
  readonly isKeyed: boolean;
  readonly classify: (error: unknown, path: string) => ErrorView;
  readonly secrets: readonly string[];
  /** Aborts when the service begins to stop: clients are to come back on other connections, of other processes. */
  readonly leaveSignal: AbortSignal;
  /** Aborts when running requests must end, finished or not. */
  readonly stopSignal: AbortSignal;
}

/** Probes need no key and have no rate limit: refusing one would make its orchestrator kill a healthy service. */
export const PROBES: readonly string[] = ['/healthz', '/readyz'];

const EXPOSED_HEADERS: string[] = [
  'X-Request-ID',
  'Location',
  'Retry-After',
  'ETag',
  'Content-Disposition',
  'RateLimit',
  'RateLimit-Policy',
];

/** Builds an Express app: middleware in order, then the routes. It does not listen. */
export function createApp(options: AppOptions): Express {
  const { routes, config, logger, metrics, accessOf, leaveSignal } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');

  app.use(trackRequest(logger, metrics, options.stopSignal));
  app.use(keepConnection(leaveSignal));
  app.use(securityHeaders(config.trustProxy));
  app.use((request, _response, next) => {
    requestState(request).checkId();
    next();
  });
  app.use(admitHost(config, options.isKeyed));
  if (config.corsOrigins.length > 0) app.use(allowOrigins(config.corsOrigins));

  const authenticator = createAuthenticator(options.keys, config.metricsKey);
  const { sessions } = options.keys;
  const actAs: NonNullable<AppOptions['actAs']> = options.actAs ?? ((_caller, _id, next) => next());
  app.use((request, response, next) => {
    if (accessOf(request.path) === 'public') {
      next();
      return;
    }
    const caller = callerOf(request, response, authenticator, sessions, config.trustProxy);
    const state = requestState(request);
    state.identify(caller, () => actAs(caller, state.observed.id, next));
  });
  if (config.rateLimitPerMinute > 0) {
    const limit = limitRate(config.rateLimitPerMinute, (request) => clientOf(request, config.trustProxy));
    app.use((request, response, next) => {
      if (PROBES.includes(request.path)) next();
      else limit(request, response, next);
    });
  }
  const limitGuesses = guessLimiter(config);
  app.use((request, _response, next) => {
    const { caller } = requestState(request);
    limitGuesses(request, caller);
    const access = accessOf(request.path);
    if (!caller.can(access)) throw forbidden(caller, access);
    next();
  });

  mountRoutes(app, routes, config, (request, key) => {
    const caller = authenticator.byKey(key);
    limitGuesses(request, caller);
    return caller;
  });
  app.use((request) => {
    const path = request.path.slice(0, 200);
    throw new RequestError('not_found', `No route matches ${request.method} ${path}.`);
  });
  app.use(errorHandler(logger, options.classify, createRedactor(options.secrets)));
  return app;
}

/** Discards what is left of a body after its response; a service that stops also closes the connection. */
function keepConnection(leaveSignal: AbortSignal): RequestHandler {
  return (request, response, next) => {
    if (awaitsBody(request)) response.once('finish', () => discardBody(request));
    if (leaveSignal.aborted) response.setHeader('Connection', 'close');
    next();
  };
}

/** Identifies a caller by its key, else by its session, which this use may renew. */
function callerOf(
  request: Request,
  response: Response,
  authenticator: Authenticator,
  sessions: Sessions,
  trustProxy: boolean,
): Caller {
  const authorization = request.get('authorization');
  const cookie = authorization === undefined ? readSessionCookie(request, trustProxy) : undefined;
  const session = cookie === undefined ? null : sessions.open(cookie);
  if (session === null) return authenticator.byHeader(authorization);
  if (!session.isDue) return authenticator.bySession(session);
  const { value, expiresAt } = sessions.seal(session.key, session.endsAt);
  response.setHeader('Set-Cookie', setSessionCookie(value, schemeOf(request, trustProxy) === 'https'));
  return authenticator.bySession({ ...session, expiresAt });
}

/**
 * The session cookie of a request, unless a page of another origin sent it: `SameSite` stops pages of other sites, but a
 * page on another port of the same host counts as the same site.
 */
function readSessionCookie(request: Request, trustProxy: boolean): string | undefined {
  const { cookie: cookies, origin, host, 'sec-fetch-site': site } = request.headers;
  if (cookies === undefined) return undefined;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return undefined;
  const scheme = schemeOf(request, trustProxy);
  if (origin !== undefined && !isOrigin(origin, parseAuthority(host ?? '', scheme), scheme)) return undefined;
  const prefix = `${SESSION_COOKIE}=`;
  const pair = cookies.split(';').find((text) => text.trimStart().startsWith(prefix));
  return pair?.trim().slice(prefix.length);
}

function guessLimiter({ failedKeysPerMinute, trustProxy }: Config) {
  const failures = slowDownFailures(failedKeysPerMinute);
  return (request: Request, { key, isWrong }: Caller): void => {
    const waitSeconds =
      key === undefined && !isWrong ? 0 : failures(networkOf(addressOf(request, trustProxy)), key);
    if (waitSeconds > 0) {
      const message = `More than ${failedKeysPerMinute} wrong keys per minute.`;
      throw retryLater('rate_limited', message, waitSeconds);
    }
  };
}

/** Lets pages of some origins read responses (Fetch standard, CORS protocol). */
function allowOrigins(origins: readonly string[]): RequestHandler {
  const handle = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  });
  return (request, response, next) => {
    // Only a preflight, which browsers send without a key, gets a response before authentication.
    const isPreflight = request.headers.origin && request.headers['access-control-request-method'];
    if (request.method === 'OPTIONS' && !isPreflight) next();
    else handle(request, response, next);
  };
}

/**
 * Adds the security headers of helmet. Headers that make browsers insist on HTTPS are sent over HTTPS only: over plain
 * HTTP they would keep the pages of this service from loading. They apply to this host and not to its subdomains.
 * `Cross-Origin-Opener-Policy` is sent only to trustworthy origins, where browsers follow it: over HTTPS, and to
 * loopback names. Elsewhere each page would log an error.
 */
export function securityHeaders(trustProxy: boolean): RequestHandler {
  const https = helmetFor({ isSecure: true, isTrustworthy: true });
  const loopback = helmetFor({ isSecure: false, isTrustworthy: true });
  const http = helmetFor({ isSecure: false, isTrustworthy: false });
  return (request, response, next) => {
    const isSecure = schemeOf(request, trustProxy) === 'https';
    (isSecure ? https : isOfMachine(request) ? loopback : http)(request, response, next);
  };
}

/** W3C Secure Contexts section 3.1: names of the machine itself. */
function isOfMachine({ headers }: IncomingMessage): boolean {
  const name = parseAuthority(headers.host ?? '', 'http')?.name ?? '';
  return isLoopback(name) || name.endsWith('.localhost');
}

function helmetFor({ isSecure, isTrustworthy }: Record<'isSecure' | 'isTrustworthy', boolean>) {
  return helmet({
    strictTransportSecurity: isSecure ? { includeSubDomains: false } : false,
    crossOriginOpenerPolicy: isTrustworthy,
    contentSecurityPolicy: {
      directives: {
        'style-src': ["'self'", "'unsafe-inline'"],
        'upgrade-insecure-requests': isSecure ? [] : null,
      },
    },
  });
}
