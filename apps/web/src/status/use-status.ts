import type { ResponseOf } from '@svc/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from '../api/use-read.ts';

export type Status = ResponseOf<'/status', 'get'>;

const REFRESH_MS = 5_000;

/** What the whole installation does now, and how much it stores. */
export function useStatus(): UseQueryResult<Status> {
  return useRead({
    queryKey: ['status'],
    read: (api, signal) => api.GET('/status', { signal }),
    refetchInterval: REFRESH_MS,
  });
}
