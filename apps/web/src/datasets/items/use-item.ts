import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ListedItem, readItem, type VersionOf } from './item-windows.ts';

/**
 * One whole item of a version, by its hash or position; null if the version does not have it. Until it is read, the one
 * before it stays.
 *
 * @param item undefined asks for none
 */
export function useItem(
  { id, version }: VersionOf,
  item: string | undefined,
): UseQueryResult<ListedItem | null> {
  return useQuery({
    queryKey: ['item', { id, version }, item],
    queryFn: ({ signal }) => readItem({ id, version }, item ?? '', signal),
    enabled: item !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
}
