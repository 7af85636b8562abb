import type { Page } from '@svc/store';
import type { JsonBody } from '../http/json-text.ts';
import type { RouteRequest } from '../http/route.ts';

type Query = RouteRequest['query'];

/** Which page a query with the parameters of `PAGE_QUERY` asks for. */
export function pageOf(query: Query): { limit: number; cursor?: string } {
  return { limit: query['limit'] as number, ...definedOf({ cursor: query['cursor'] as string | undefined }) };
}

/** The members that are not undefined. */
export function definedOf<T extends Record<string, unknown>>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** A list on the wire (contract section 1). */
export function pageBody<T>(
  found: Page<T>,
  query: Query,
  body: (entry: T) => JsonBody,
): { data: JsonBody[]; meta: JsonBody } {
  return {
    data: found.data.map(body),
    meta: { limit: query['limit'] as number, next_cursor: found.nextCursor, total_items: found.totalItems },
  };
}
