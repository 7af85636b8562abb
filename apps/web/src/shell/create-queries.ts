import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem, ConnectionLost } from '../api/api-problem.ts';
import type { Connection } from './connection.ts';

/** Reads are repeated after a lost connection or an overloaded service, not after another response. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_RETRIES = 2;

/** Creates the cache of what the API returned. */
export function createQueries(connection: Connection): QueryClient {
  const onError = (error: unknown): void => connection.set(error instanceof ConnectionLost);
  const onSuccess = (): void => connection.set(false);
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        onError(error);
        // the session has ended: ask for a new one
        if (error instanceof ApiProblem && error.status === 401 && query.queryKey[0] !== 'session')
          void queries.resetQueries({ queryKey: ['session'] });
      },
      onSuccess,
    }),
    mutationCache: new MutationCache({ onError, onSuccess }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 60_000,
        retry: (count, error) =>
          count < MAX_RETRIES &&
          (error instanceof ApiProblem ? RETRIED.has(error.status) : !(error instanceof ConnectionLost)),
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  return queries;
}
