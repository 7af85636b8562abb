import { type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core';
import {
  MutationCache,
  onlineManager,
  QueryCache,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BRAND } from './brand.ts';
import { createConsoleRouter, preloadPages } from './router.tsx';
import { sessionKey } from './session/session.tsx';
import { FilesProvider } from './shell/drop-anywhere.tsx';
import { NoticesProvider } from './ui/layout/notices.tsx';
import '@mantine/core/styles.css';
import './styles.css';
import { ApiProblem, ConnectionLost, isRefusal } from './api/api.ts';

const theme = createTheme({
  colors: { brand: BRAND.colors },
  primaryColor: 'brand',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'sm',
  fontFamily: '"Inter Variable", system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  respectReducedMotion: true,
  components: {
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    // the title of a warning in the colour of warnings has too little contrast
    Alert: { styles: { title: { color: 'var(--mantine-color-text)' } } },
    // a menu has entries only; the first one gets the focus
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Badge: { defaultProps: { tt: 'none' } },
    Anchor: { defaultProps: { underline: 'always' } },
    // under the pointer, the link of the page keeps its colours, whose contrast suffices
    NavLink: {
      vars: () => ({ root: { '--nl-hover': 'var(--mantine-primary-color-light)' }, children: {} }),
    },
    // the chosen option again changes nothing; what may be empty has a button for it
    Select: { defaultProps: { allowDeselect: false } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm' } },
  },
});

/** Greys with the contrast that WCAG 2.2 AA asks for; the library's greys have less. */
const readableColors: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[9],
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
    '--mantine-color-error': colors.red[4],
  },
});

const PRELOAD_AFTER_MS = 2_000;

/** Reads are repeated after a lost connection or an overloaded service, not after another response. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_RETRIES = 2;

/** The metrics may have a separate key, and the session is asked for itself: their 401 says nothing new. */
const WITHOUT_SESSION: ReadonlySet<unknown> = new Set([sessionKey[0], 'metrics']);

// The policy of the page allows only styles with this nonce. A library asks for it by this name, others by `getNonce`.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

// requests tell whether the service responds: without a network, it may still be on this machine
onlineManager.setEventListener(() => undefined);
const queries = createQueries();
const router = createConsoleRouter();

// a page whose code cannot be loaded waits for the service
addEventListener('vite:preloadError', () => onlineManager.setOnline(false));
addEventListener('load', () => setTimeout(() => void preloadPages(router), PRELOAD_AFTER_MS));

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the console.');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
      cssVariablesResolver={readableColors}
    >
      <QueryClientProvider client={queries}>
        <NoticesProvider>
          <FilesProvider>
            <RouterProvider router={router} />
          </FilesProvider>
        </NoticesProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

function createQueries(): QueryClient {
  const onError = (error: unknown, key?: unknown): void => {
    const isAnswer = error instanceof ApiProblem;
    // other errors say nothing of the service
    if (isAnswer || error instanceof ConnectionLost) onlineManager.setOnline(isAnswer);
    // the session may have ended: asking for it shows where to sign in
    if (isRefusal(error, 401) && !WITHOUT_SESSION.has(key))
      void queries.invalidateQueries({ queryKey: sessionKey });
  };
  const onSuccess = (): void => onlineManager.setOnline(true);
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
