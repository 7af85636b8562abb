import type { Paths, ResponseOf } from '@svc/client';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useRead } from '../api/use-read.ts';
import type { Run } from './use-run.ts';

type RunsQuery = NonNullable<Paths['/runs']['get']['parameters']['query']>;

/** The newest runs that a query of the API asks for. Lists lack latencies. */
export function useRuns(
  query: RunsQuery,
  options: { readonly refetchInterval?: number; readonly enabled?: boolean } = {},
): UseQueryResult<ResponseOf<'/runs', 'get'>> {
  return useRead({
    queryKey: ['runs', query],
    read: (api, signal) => api.GET('/runs', { params: { query }, signal }),
    ...options,
  });
}

/** How many of the newest runs are offered, and looked at for suggestions. */
const RECENT = 100;

/** The newest runs; none until they are read. */
export function useRecentRuns(): readonly Run[] {
  return useRuns({ limit: RECENT }).data?.data ?? [];
}

/** Runs by their ids, whole. */
export function useRunsById(
  ids: readonly string[],
  options: { readonly enabled?: boolean; readonly staleTime?: number } = {},
): readonly UseQueryResult<Run>[] {
  const api = useApi();
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['run', id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<Run> =>
        dataOf(api.GET('/runs/{id}', { params: { path: { id } }, signal })),
      ...options,
    })),
  });
}
