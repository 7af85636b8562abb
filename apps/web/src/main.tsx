import '@mantine/core/styles.css';
import './styles.css';
import { createApiClient } from '@svc/client';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createConsoleRouter, preloadPages } from './router.tsx';
import { createConnection } from './shell/connection.ts';
import { createQueries } from './shell/create-queries.ts';

/** After the first page is there. */
const PRELOAD_AFTER_MS = 2_000;

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
