import type { ErrorView, Route, RouteRequest, Schema } from '@svc/service';
import type { HubErrorCode } from './repository.ts';

/** What the routes for clients of the hub share. They ignore parameters of a query that they do not know. */
export const HUB_READ: Pick<Route, 'tag' | 'produces' | 'ignoresQuery' | 'errors'> & {
  readonly method: 'get';
  readonly access: 'viewer';
} = {
  method: 'get',
  tag: 'hub-serving',
  access: 'viewer',
  produces: 'application/json',
  ignoresQuery: true,
  errors: ['not_found', 'unavailable'],
};

/** The query of a list of at most `max` entries a page. */
export const listQuery = (entries: string, max: string): Readonly<Record<'limit' | 'cursor', Schema>> => ({
  limit: { type: 'string', description: `${entries} of a page, ${max} at most` },
  cursor: { type: 'string', maxLength: 2_000, description: 'as `Link` has it' },
});

/** The response with a page of such a list. */
export const listResponse = (schema: Schema): Route['responses'] => ({
  200: { description: 'a page; the header `Link` names the next one', schema },
});

/** Repositories and commits as clients of the hub know them. */
export const OBJECTS: Schema = { type: 'array', items: { type: 'object', additionalProperties: true } };

/** Whether a text of a query is true: clients of Python write `True`. */
export const isTrue = (value: unknown): boolean => String(value).toLowerCase() === 'true' || value === '1';

/** How many entries a query asks for. */
export function limitOf(value: unknown, max: number): number {
  const limit = /^\d{1,9}$/.test(String(value)) ? Number(value) : max;
  return Math.min(Math.max(1, limit), max);
}

/** The header that names the next page, with an absolute address, as clients follow it. */
export function nextPage(
  { raw, isSecure }: RouteRequest,
  cursor: string | null,
): Readonly<Record<string, string>> {
  if (cursor === null) return {};
  const query = new URLSearchParams(raw.originalUrl.split('?')[1] ?? '');
  query.set('cursor', cursor);
  const origin = `${isSecure ? 'https' : 'http'}://${raw.get('host') ?? ''}`;
  return { Link: `<${origin}${raw.path}?${query}>; rel="next"` };
}

/** A text as an opaque cursor. */
export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

export const fromCursor = (cursor: unknown): string =>
  typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';

/** Paths that clients of the hub ask. */
const API = /^\/api(?:\/|$)/;
const FILE = /^\/datasets\/[^/]+(?:\/[^/]+)?\/resolve\//;
/** Repositories of other owners than `svc`. */
const FOREIGN = /^(?:\/api)?\/datasets\/(?!svc\/)[^/]+\/[^/]+/;

/** Adds to an error what clients of the hub read: `X-Error-Code` and `X-Error-Message`. Errors of other paths stay as they are. */
export function withHubHeaders(view: ErrorView, path: string): ErrorView {
  if (!API.test(path) && !FILE.test(path)) return view;
  const code = codeOf(view, path);
  const headers = {
    ...(code === undefined ? {} : { 'X-Error-Code': code }),
    'X-Error-Message': view.detail.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 500),
    ...view.headers,
  };
  return { ...view, headers };
}

function codeOf({ row }: ErrorView, path: string): HubErrorCode | undefined {
  if (row.status === 401) return 'RepoNotFound';
  return row.status === 404 && FOREIGN.test(path) ? 'RepoNotFound' : undefined;
}
