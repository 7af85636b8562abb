import { type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core';
import type { ApiClient } from '@svc/client';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ApiProvider } from './api/api-context.tsx';
import { BRAND } from './brand.ts';
import type { ConsoleRouter } from './router.tsx';
import { type Connection, ConnectionProvider } from './shell/connection-banner.tsx';
import { FilesProvider } from './shell/drop-anywhere.tsx';
import { NoticesProvider } from './ui/layout/notices.tsx';

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

/** Greys with the contrast that WCAG 2.2 AA asks for; those of the library have less. */
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

/** Everything that the pages share: theme, API, queries, connection, notices, and the router that shows a page. */
export function App({
  api,
  queries,
  router,
  connection,
  nonce,
}: {
  readonly api: ApiClient;
  readonly queries: QueryClient;
  readonly router: ConsoleRouter;
  readonly connection: Connection;
  readonly nonce: string;
}) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
      cssVariablesResolver={readableColors}
    >
      <ApiProvider client={api}>
        <QueryClientProvider client={queries}>
          <ConnectionProvider value={connection}>
            <NoticesProvider>
              <FilesProvider>
                <RouterProvider router={router} />
              </FilesProvider>
            </NoticesProvider>
          </ConnectionProvider>
        </QueryClientProvider>
      </ApiProvider>
    </MantineProvider>
  );
}
