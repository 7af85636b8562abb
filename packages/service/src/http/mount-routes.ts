import type { JsonObject } from '@svc/jsonl-v23/json';
import type { Express, Request, RequestHandler } from 'express';
import Negotiator from 'negotiator';
import type { Config } from '../config/load-config.ts';
import { type Caller, forbidden } from './access/authenticate.ts';
import { originsOf, schemeOf } from './access/hosts.ts';
import { clientOf, createStreamPermits, type StreamPermits } from './access/limits.ts';
import { PROBLEM_TYPE } from './problem.ts';
import { isForm, readFormBody, readJsonBody, watchIdleBody } from './request/read-body.ts';
import { RequestError } from './request/request-error.ts';
import { requestState } from './request/track-request.ts';
import { createRouteCompiler, type RouteValidator } from './request/validate.ts';
import type { RouteResponse } from './response/response.ts';
import { endResponse, sendResponse } from './response/send-response.ts';
import type { Route } from './route.ts';

type Identify = (request: Request, key: string) => Caller;

/** Mounts every route, and for each of their paths a reply to the methods that it does not have. */
export function mountRoutes(
  app: Express,
  routes: readonly Route[],
  config: Config,
  identify: Identify,
): void {
  const compile = createRouteCompiler();
  const permits = createStreamPermits(config);
  for (const route of routes) {
    app[route.method](expressPath(route.path), handlerOf(route, compile(route), config, permits, identify));
  }
  for (const [path, methods] of methodsByPath(routes)) app.route(path).all(otherMethods(path, methods));
}

/** `/datasets/{id}/{+path}` as Express and the metrics write it: `/datasets/:id/*path`. */
const expressPath = (path: string): string =>
  path.replaceAll(/\{(\+?)(\w+)\}/g, (_, rest, name) => `${rest === '' ? ':' : '*'}${name}`);

function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, method } of routes) {
    const methods = found.get(expressPath(path)) ?? ['OPTIONS'];
    methods.push(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    found.set(expressPath(path), methods.sort());
  }
  return found;
}

function otherMethods(path: string, methods: readonly string[]): RequestHandler {
  return (request, response) => {
    requestState(request).observed.setRoute(path);
    if (request.method === 'OPTIONS') {
      response.setHeader('Allow', methods.join(', '));
      endResponse(request, response.status(204));
      return;
    }
    throw new RequestError('method_not_allowed', `${request.method} is not allowed on ${path}.`, {
      headers: { Allow: methods.join(', ') },
    });
  };
}

function handlerOf(
  route: Route,
  validator: RouteValidator,
  config: Config,
  permits: StreamPermits,
  identify: Identify,
): RequestHandler {
  const path = expressPath(route.path);
  return async (request, response) => {
    const state = requestState(request);
    state.observed.setRoute(path);
    const { caller } = state;
    if (!caller.can(route.access)) throw forbidden(caller, route.access);
    const { produces = 'application/json' } = route;
    if (!isAccepted(request, produces)) {
      throw new RequestError('not_acceptable', `This endpoint returns ${produces}.`);
    }
    const query = validator.query(request.query);
    const client = clientOf(request, config.trustProxy);
    using _permit =
      route.streams === undefined
        ? undefined
        : await permits[route.streams].acquire(state.signal, { client });
    const parts = {
      params: paramsOf(request),
      query,
      client,
      caller,
      isSecure: schemeOf(request, config.trustProxy) === 'https',
      origins: originsOf(request, config.trustProxy),
      identify: (key: string) => identify(request, key),
      header: (name: string) => request.get(name),
      raw: request,
    };
    const answer = async (): Promise<RouteResponse> => {
      if (route.body === undefined) {
        return await route.handle({
          ...parts,
          body: {},
          get signal() {
            return state.signal;
          },
        });
      }
      using watch = watchIdleBody(request, config.idleBodyTimeoutMs, state.signal);
      const { signal } = watch;
      const body = await bodyOf(route.body, request, validator, config, signal);
      return await route.handle({ ...parts, body, signal });
    };
    const result = await (route.isAnonymous === true ? state.disguise(answer) : answer());
    await sendResponse(request, response, result, () => state.signal, config.slowReaderTimeoutMs);
  };
}

/** The parameters of the path; Express gives the segments of a rest. */
function paramsOf({ params }: Request): Record<string, string> {
  const entries = Object.entries(params as Record<string, string | string[]>);
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join('/')]));
}

/** A parameter of a media range other than its weight; none of ours have a meaning to clients (RFC 9110, 12.5.1). */
const PARAMETER = /;\s*(?!q\s*=)[^;,"]*(?:"(?:[^"\\]|\\.)*")?[^;,"]*/gi;

/** Whether the client accepts a type, JSON or a problem; a client that names none accepts all. */
function isAccepted(request: Request, produces: string): boolean {
  const { accept = '*/*' } = request.headers;
  if (accept === '*/*' || accept === produces || produces === '*/*') return true;
  const negotiator = new Negotiator({ headers: { accept: accept.replaceAll(PARAMETER, '') } });
  return negotiator.mediaTypes([produces, 'application/json', PROBLEM_TYPE]).length > 0;
}

async function bodyOf(
  { contentType, maxBytes, maxValues, acceptsForm, parse }: NonNullable<Route['body']>,
  request: Request,
  validator: RouteValidator,
  config: Config,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (contentType !== 'application/json') return {};
  const limits = { ...config, maxJsonBodyBytes: maxBytes ?? config.maxJsonBodyBytes, maxValues };
  return validator.body(
    acceptsForm === true && isForm(request)
      ? await readFormBody(request, limits, signal)
      : await readJsonBody(request, limits, signal, parse),
  );
}
