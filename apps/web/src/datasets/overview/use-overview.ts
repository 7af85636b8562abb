import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { VersionOf } from '../items/item-windows.ts';
import { type Overview, readOverview } from './read-overview.ts';

/**
 * What is in a version of a dataset.
 *
 * @param of undefined reads nothing
 * @param isLimited whether only the first items are read
 */
export function useOverview(of: VersionOf | undefined, isLimited = true): UseQueryResult<Overview> {
  const { id = '', version = 0 } = of ?? {};
  return useQuery({
    queryKey: ['overview', id, version, isLimited],
    queryFn: ({ signal }) => readOverview({ id, version }, isLimited, signal),
    enabled: of !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before, query) =>
      query?.queryKey[1] === id && query.queryKey[2] === version ? before : undefined,
  });
}
