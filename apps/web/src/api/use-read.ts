import type { ApiClient } from '@svc/client';
import { type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from './api-context.tsx';
import { dataOf, type Reply } from './api-problem.ts';

/** Reads something of the API, as a query. Its errors are those of `dataOf`. */
export function useRead<Data>({
  read,
  ...options
}: Omit<UseQueryOptions<Data>, 'queryFn'> & {
  readonly read: (api: ApiClient, signal: AbortSignal) => Promise<Reply<Data>>;
}): UseQueryResult<Data> {
  const api = useApi();
  return useQuery({ ...options, queryFn: ({ signal }) => dataOf(read(api, signal)) });
}
