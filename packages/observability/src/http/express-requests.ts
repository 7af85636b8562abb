import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWithContext } from '../context.ts';
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

/** The members that Express's router sets on a request while it looks for the route. */
interface RoutedRequest extends IncomingMessage {
  /** The part of the URL that mounts have taken: the client's text, `/users/5`, not the template. */
  readonly baseUrl?: string | undefined;
  readonly route?: { readonly path?: unknown } | undefined;
  /** Parameters of the layer that is tried; those of a mount when `baseUrl` is set. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * Calls `onRoute` with the template of each route that Express tries for a request: `/users/:id/orders/:order`. The
 * router sets `baseUrl` right after the parameters of a mount, which reveal its template.
 */
function followRoute(request: IncomingMessage, onRoute: (template: string) => void): void {
  const routed: RoutedRequest = request;
  const templates = new Map<string, string>([['', '']]);
  let { baseUrl, route } = routed;
  const templateOf = (url: string | undefined): string => templates.get(url ?? '') ?? '';
  Object.defineProperty(routed, 'baseUrl', {
    configurable: true,
    enumerable: true,
    get: () => baseUrl,
    set(value: string | undefined) {
      if (value !== undefined && !templates.has(value)) {
        const outer = baseUrl !== undefined && value.startsWith(baseUrl) ? baseUrl : '';
        const taken = mountTemplate(value.slice(outer.length), routed.params ?? {});
        templates.set(value, templateOf(outer) + taken);
      }
      baseUrl = value;
    },
  });
  Object.defineProperty(routed, 'route', {
    configurable: true,
    enumerable: true,
    get: () => route,
    set(value: RoutedRequest['route']) {
      route = value;
      if (value === undefined) return;
      const mount = templateOf(baseUrl);
      const path = Array.isArray(value.path) ? value.path.map(String).join(',') : String(value.path);
      onRoute(path === '/' && mount !== '' ? mount : mount + path);
    },
  });
}

/** Replaces the values of parameters in what a mount took of the URL. Case does not count in it, as in Express. */
function mountTemplate(taken: string, params: Readonly<Record<string, unknown>>): string {
  const whole = new Map<string, string>();
  const parts: [value: string, label: string][] = [];
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) for (const part of value) whole.set(String(part), `*${name}`);
    else if (typeof value === 'string' && value !== '') parts.push([value, `:${name}`]);
  }
  for (const [value, label] of parts) whole.set(value, label);
  const segments: string[] = [];
  for (const segment of taken.split('/')) {
    const template = segmentTemplate(decode(segment), whole, parts);
    if (!template.startsWith('*') || segments.at(-1) !== template) segments.push(template);
  }
  return segments.join('/');
}

function segmentTemplate(
  segment: string,
  whole: ReadonlyMap<string, string>,
  parts: readonly (readonly [value: string, label: string])[],
): string {
  const label = whole.get(segment);
  if (label !== undefined) return label;
  const part = parts.find(([value]) => segment.includes(value));
  return part === undefined ? segment.toLowerCase() : segment.replace(part[0], () => part[1]).toLowerCase();
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
