import type { Paths, ResponseOf } from '@svc/client';
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { get } from '../api/api.ts';
import type { Run } from './use-run.ts';

type RunsQuery = NonNullable<Paths['/runs']['get']['parameters']['query']>;

/** The newest runs that a query of the API asks for. Lists lack latencies. */
export function useRuns(
  query: RunsQuery,
  options: { readonly refetchInterval?: number; readonly enabled?: boolean } = {},
): UseQueryResult<ResponseOf<'/runs', 'get'>> {
  return useQuery({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => get('/runs', { query }, signal),
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
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['run', id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<Run> =>
        get('/runs/{id}', { path: { id } }, signal),
      ...options,
    })),
  });
}

/** Runs in the order in which they are compared: the oldest is the baseline. */
export const olderFirst = (runs: readonly Run[]): readonly Run[] =>
  runs.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));

/** The address of a comparison of runs that were chosen in a list, in which they are. */
export const comparisonOf = (runs: readonly Run[], chosen: readonly string[]): string => {
  const known = olderFirst(runs.filter(({ id }) => chosen.includes(id))).map(({ id }) => id);
  return [...known, ...chosen.filter((id) => !known.includes(id))].join(',');
};
