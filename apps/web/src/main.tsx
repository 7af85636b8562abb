import { createApiClient } from '@svc/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem, ConnectionLost, isRefusal } from './api/api-problem.ts';
import { App } from './app.tsx';
import { createConsoleRouter, preloadPages } from './router.tsx';
import { sessionKey } from './session/session.tsx';
import { type Connection, createConnection } from './shell/connection-banner.tsx';
import '@mantine/core/styles.css';
import './styles.css';

/** After the first page is there. */
const PRELOAD_AFTER_MS = 2_000;

/** Reads are repeated after a lost connection or an overloaded service, not after another response. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_RETRIES = 2;

/** The metrics may have a separate key, and the session is asked for itself: their 401 says nothing new. */
const WITHOUT_SESSION: ReadonlySet<unknown> = new Set([sessionKey[0], 'metrics']);

// The policy of the page allows only styles with this nonce. A library asks for it by this name, others by `getNonce`.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

const connection = createConnection();
const api = createApiClient({ baseUrl: location.origin });
const queries = createQueries(connection);
const router = createConsoleRouter();

// a page whose code cannot be loaded waits for the service
addEventListener('vite:preloadError', () => connection.set(true));
addEventListener('load', () => setTimeout(() => void preloadPages(router), PRELOAD_AFTER_MS));

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the console.');
createRoot(root).render(
  <StrictMode>
    <App api={api} queries={queries} router={router} connection={connection} nonce={nonce} />
  </StrictMode>,
);

/** Creates the cache of what the API returned. */
function createQueries(connection: Connection): QueryClient {
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
