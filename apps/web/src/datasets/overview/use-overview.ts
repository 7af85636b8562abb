import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Overview, readOverview } from './read-overview.ts';

/**
 * What is in a dataset.
 *
 * @param id null reads nothing
 * @param isLimited whether only the first items are read
 */
export function useOverview(id: string | null, isLimited = true): UseQueryResult<Overview> {
  return useQuery({
    queryKey: ['overview', id, isLimited],
    queryFn: ({ signal }) => readOverview(id ?? '', isLimited, signal),
    enabled: id !== null,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before, query) => (query?.queryKey[1] === id ? before : undefined),
  });
}
