import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { isItemHash } from './item-hash.ts';
import { type Dataset, type ListedItem, positionIn, readItem } from './item-windows.ts';

/**
 * One whole item of a version, by its hash or position; null if the version does not have it. Until it is read, the one
 * before it stays.
 *
 * @param item undefined asks for none
 */
export function useItem(dataset: Dataset, item: string | undefined): UseQueryResult<ListedItem | null> {
  const api = useApi();
  const queries = useQueryClient();
  const { id, version } = dataset;
  const keyOf = (place: string | undefined) => ['item', { id, version }, place] as const;
  return useQuery({
    queryKey: keyOf(item),
    queryFn: async ({ signal }) => {
      const listed = await readItem(api, dataset, item ?? '', signal);
      const position = listed === null ? undefined : positionIn(dataset, listed);
      // the list asks for it by its position next
      if (isItemHash(item ?? '') && position !== undefined) queries.setQueryData(keyOf(position), listed);
      return listed;
    },
    enabled: item !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
}
