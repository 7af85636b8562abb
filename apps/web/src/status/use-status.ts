import type { ResponseOf } from '@svc/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';

export type Status = ResponseOf<'/status', 'get'>;

const REFRESH_MS = 5_000;

/** What the whole installation does now, and how much it stores. */
export function useStatus(): UseQueryResult<Status> {
  const api = useApi();
  return useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => dataOf(api.GET('/status', { signal })),
    refetchInterval: REFRESH_MS,
  });
}
