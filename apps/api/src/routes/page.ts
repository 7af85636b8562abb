import { encodePieces } from '@svc/pkg-format/internal';
import {
  type JsonBody,
  json,
  type RouteRequest,
  type RouteResponse,
  stream,
  toJsonText,
  toJsonTexts,
} from '@svc/service';
import type { ItemsRequest, Page } from '@svc/store';

/** The error of an item or result that is too large for a list. */
export const ITEM_TOO_LARGE = {
  code: 'item_too_large',
  message: 'Larger than SVC_MAX_LINE_BYTES.',
} as const;

export type Query = RouteRequest['query'];

/** The page that a query requests, with the parameters of `PAGE_QUERY` or `PLACED_PAGE_QUERY`. */
export function pageOf(query: Query): Pick<ItemsRequest, 'limit' | 'cursor' | 'offset'> {
  return {
    limit: query['limit'] as number,
    cursor: query['cursor'] as string | undefined,
    offset: query['offset'] as number | undefined,
  };
}

/** A page of a list as JSON. */
export function toPage<T>(
  found: Page<T>,
  query: Query,
  body: (entry: T) => JsonBody,
): { data: JsonBody[]; meta: JsonBody } {
  return { data: found.data.map(body), meta: pageMeta(found, query) };
}

/** What a page says of its list. */
export function pageMeta(found: Omit<Page<unknown>, 'data'>, query: Query): JsonBody {
  return { limit: query['limit'] as number, next_cursor: found.nextCursor, total_items: found.totalItems };
}

/** A page whose memory counts against a limit until it is released. */
interface AccountedPage<T> extends Page<T> {
  readonly isLarge: boolean;
  release(): void;
}

/** A response with such a page: a large one is sent entry by entry, so that it is never in memory as one text. */
export function pageResponse<T>(
  found: AccountedPage<T>,
  query: Query,
  body: (entry: T) => JsonBody,
): RouteResponse {
  if (!found.isLarge) return json(toPage(found, query, body));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let before = '{"data":[';
    for (const entry of found.data) {
      yield* encodePieces([before, ...toJsonTexts(body(entry))]);
      before = ',';
    }
    yield Buffer.from(`],"meta":${toJsonText(pageMeta(found, query))}}\n`);
  }
  return stream(pieces(), { 'Content-Type': 'application/json' }, async () => found.release());
}
