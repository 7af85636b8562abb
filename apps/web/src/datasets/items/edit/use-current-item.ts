import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { get } from '../../../api/api.ts';
import { textOrJson } from '../../../ui/text/pretty-json.ts';
import type { ListedItem, VersionOf } from '../item-windows.ts';

/**
 * An item of another version as a version has it: the same, or changed under its id; null where it is gone.
 *
 * @param listed undefined asks for none
 */
export function useCurrentItem(
  { id, version }: VersionOf,
  listed: ListedItem | undefined,
): UseQueryResult<ListedItem | null> {
  const { item_hash = '', section, item = null } = listed ?? {};
  return useQuery({
    queryKey: ['current-item', { id, version }, { item_hash, section }],
    queryFn: async ({ signal }) => {
      const find = async (by: { readonly item_hash: string } | { readonly item_id: string }) => {
        const query = { ...by, section, version: String(version), assets: 'link' as const, limit: 3 };
        return (await get('/datasets/{id}/items', { path: { id }, query }, signal)).data;
      };
      const [same] = await find({ item_hash });
      const itemId = idOf(item);
      if (same !== undefined || itemId === null) return same ?? null;
      // `1` and `"1"` are two ids
      const found = (await find({ item_id: textOrJson(itemId) })).filter(
        (one) => canonicalJson(idOf(one.item)) === canonicalJson(itemId),
      );
      return found.length === 1 ? (found[0] ?? null) : null;
    },
    enabled: listed !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

const idOf = (item: ListedItem['item']): JsonValue => getMember((item ?? {}) as JsonObject, 'id') ?? null;
