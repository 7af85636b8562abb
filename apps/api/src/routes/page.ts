import { encodePieces } from '@svc/pkg-format';
import {
  invalidMember,
  type JsonBody,
  json,
  type RouteRequest,
  type RouteResponse,
  type Schema,
  stream,
  toJsonText,
  toJsonTexts,
} from '@svc/service';
import type { ItemsRequest, Page } from '@svc/service/store';
import { codeName } from './docs/schemas.ts';

export const ITEM_TOO_LARGE = {
  code: 'item_too_large',
  message: 'Larger than SVC_MAX_LINE_BYTES.',
} as const;

export type Query = RouteRequest['query'];

export function pageOf(query: Query): Pick<ItemsRequest, 'limit' | 'cursor' | 'offset'> {
  return {
    limit: query['limit'] as number,
    cursor: query['cursor'] as string | undefined,
    offset: query['offset'] as number | undefined,
  };
}

/** What a list asks of the store: the parameters of its query under their names in the code, or `others`, and the signal. */
export function wanted<T extends object>(
  { query, signal }: Pick<RouteRequest, 'query' | 'signal'>,
  others?: NoInfer<Partial<T>>,
): T {
  return { ...named<object>(query), signal, ...others } as T;
}

export const named = <T>(members: object): T =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [codeName(name), value])) as T;

export async function listed<T>(
  { query }: Pick<RouteRequest, 'query'>,
  found: Promise<Page<T>>,
  body: (entry: T) => JsonBody,
): Promise<RouteResponse> {
  return json(toPage(await found, query, body));
}

export function toPage<T>(
  found: Page<T>,
  query: Query,
  body: (entry: T) => JsonBody,
): { data: JsonBody[]; meta: JsonBody } {
  return { data: found.data.map(body), meta: pageMeta(found, query) };
}

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

type ItemValues = ItemsRequest['values'];

export const ITEM_VALUES: Readonly<Record<string, Schema>> = {
  expected: { type: 'string', description: 'items with this `answer`; numbers as in JSON' },
  meta: {
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: 8,
    description:
      'parameters such as `meta./level=hard`: items whose `meta` has this value at this JSON Pointer; numbers, true, false and null as in JSON',
  },
};

export function itemValues(query: RouteRequest['query']): ItemValues {
  const expected = query['expected'] as string | undefined;
  const ofMeta = metaValues(query['meta'] as Readonly<Record<string, string>> | undefined);
  return expected === undefined ? ofMeta : [...(ofMeta ?? []), { pointer: '/answer', value: expected }];
}

const POINTER = /^(?:\/(?:[^~]|~[01])*)$/;

/** The parameters `meta.<pointer>`; a name without a slash names a member. */
function metaValues(meta: Readonly<Record<string, string>> | undefined): ItemValues {
  if (meta === undefined) return undefined;
  return Object.entries(meta).map(([name, value]) => {
    const path = name.slice('meta.'.length);
    const pointer = path.startsWith('/') ? path : `/${path.replaceAll('~', '~0')}`;
    if (path === '' || path.length > 1024 || !POINTER.test(pointer)) {
      throw invalidMember('query', name.slice(0, 100), 'must be `meta.` and a JSON Pointer such as /level');
    }
    return { pointer: `/meta${pointer}`, value };
  });
}
