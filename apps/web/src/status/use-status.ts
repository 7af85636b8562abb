import type { ResponseOf } from '@svc/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { get } from '../api/api.ts';

export type Status = ResponseOf<'/status', 'get'>;

const REFRESH_MS = 5_000;

/** What the whole installation does now, and how much it stores. */
export function useStatus(): UseQueryResult<Status> {
  return useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => get('/status', {}, signal),
    refetchInterval: REFRESH_MS,
  });
}
