import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { listedResult } from './result-columns.tsx';
import { resultsQuery } from './results-query.ts';

const PAGE = 100;
/** Rows from the end of what was read at which the next page is asked for. */
const AHEAD = 50;
/** Results of which any can be reached at once: the pages before it are read. More grow while they are scrolled. */
const MAX_DIRECT = 20_000;
const REFRESH_MS = 2_000;

/** The results that the filters of an address choose, while the run works too. */
export function useResults(run: Run, search: RunSearch) {
  const api = useApi();
  const filters = resultsQuery(search);
  const found = useInfiniteQuery({
    queryKey: ['results', run.id, filters] as const,
    queryFn: async ({ signal, pageParam }) => {
      const { data, meta } = await dataOf(
        api.GET('/runs/{id}/results', {
          params: {
            path: { id: run.id },
            query: { ...filters, include: 'item', limit: PAGE, cursor: pageParam },
          },
          signal,
        }),
      );
      return { data: data.map(listedResult), meta };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    // a blind sample shows nothing of a list with scores, not even while it loads
    placeholderData: (before, query) => (query?.queryKey[2].sample === filters.sample ? before : undefined),
  });
  const results = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const total = found.data?.pages.at(-1)?.meta.total_items ?? 0;
  const { fetchNextPage, hasNextPage, isFetchingNextPage, refetch, dataUpdatedAt } = found;
  const [isAtTop, setAtTop] = useState(true);
  const onRange = useCallback(
    (first: number, last: number) => {
      setAtTop(first === 0);
      if (hasNextPage && !isFetchingNextPage && last >= results.length - AHEAD) void fetchNextPage();
    },
    [hasNextPage, isFetchingNextPage, fetchNextPage, results.length],
  );
  // results that were made since the list was read
  const doneWhenRead = useRef({ at: 0, done: 0 });
  if (doneWhenRead.current.at !== dataUpdatedAt)
    doneWhenRead.current = { at: dataUpdatedAt, done: run.counts.done };
  const news = Math.max(0, run.counts.done - doneWhenRead.current.done);
  const follows = isAtTop && search.result === undefined && news > 0;
  useEffect(() => {
    if (!follows) return;
    const timer = setTimeout(() => void refetch(), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [follows, refetch]);
  return {
    found,
    filters,
    results,
    total,
    count: total <= MAX_DIRECT ? total : results.length,
    onRange,
    /** How many results are new; they come by themselves while the list is at its start and nothing is open. */
    news: follows ? 0 : news,
  };
}
