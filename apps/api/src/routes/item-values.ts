import { invalidMember, type RouteRequest, type Schema } from '@svc/service';
import type { ItemsRequest } from '@svc/store';

type ItemValues = ItemsRequest['values'];

/** Query parameters that choose items, or results of items, by values of the items. */
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

/** The values of items that a query with {@link ITEM_VALUES} asks for. @throws RequestError `invalid_request` */
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
