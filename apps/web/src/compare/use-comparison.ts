import type { ResponseOf } from '@svc/client';
import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import type { CompareSearch } from './compare-search.ts';

export type Compared = ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>;
export type Difference = Compared['data'][number];

const PAGE = 100;

/** The items in which two runs differ, page by page. */
export function useComparison(
  id: string,
  other: string,
  { only, by, scorer }: Pick<CompareSearch, 'only' | 'by' | 'scorer'>,
): UseInfiniteQueryResult<InfiniteData<Compared>> {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: ['compare', id, other, only, by, scorer],
    queryFn: ({ signal, pageParam }) =>
      dataOf(
        api.GET('/runs/{id}/compare/{other_id}', {
          params: {
            path: { id, other_id: other },
            query: { only, pair_by: by, scorer, limit: PAGE, cursor: pageParam },
          },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}
