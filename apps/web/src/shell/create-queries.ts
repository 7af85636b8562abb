import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem, ConnectionLost, isRefusal } from '../api/api-problem.ts';
import { sessionKey } from '../session/session-key.ts';
import type { Connection } from './connection.ts';

/** Reads are repeated after a lost connection or an overloaded service, not after another response. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_RETRIES = 2;

/** The metrics may have a separate key, and the session is asked for itself: their 401 says nothing new. */
const WITHOUT_SESSION: ReadonlySet<unknown> = new Set([sessionKey[0], 'metrics']);

/** Creates the cache of what the API returned. */
export function createQueries(connection: Connection): QueryClient {
  const onError = (error: unknown, key?: unknown): void => {
    connection.set(error instanceof ConnectionLost);
    // the session may have ended: asking for it shows where to sign in
    if (isRefusal(error, 401) && !WITHOUT_SESSION.has(key))
      void queries.invalidateQueries({ queryKey: sessionKey });
  };
  const onSuccess = (): void => connection.set(false);
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => onError(error, queryKey[0]),
      onSuccess,
    }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _result, { options }) => onError(error, options.mutationKey?.[0]),
      onSuccess,
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 60_000,
        // a service on this machine responds without any network
        networkMode: 'always',
        retry: (count, error) =>
          count < MAX_RETRIES &&
          (error instanceof ApiProblem ? RETRIED.has(error.status) : !(error instanceof ConnectionLost)),
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  return queries;
}
