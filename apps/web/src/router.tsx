import { Text } from '@mantine/core';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { loadedAgain } from './api/service-responds.ts';
import { parseAuditSearch } from './audit/audit-search.ts';
import { parseCompareSearch } from './compare/compare-search.ts';
import { parseDatasetSearch } from './datasets/dataset-search.ts';
import { parseDatasetsSearch } from './datasets/list/datasets-search.ts';
import { parseImportSearch } from './hub-import/hub-source.ts';
import { parseJobsSearch } from './jobs/jobs-search.ts';
import { parseNewRunSearch, parseRunSearch, parseRunsSearch } from './runs/runs-search.ts';
import { Shell } from './shell/shell.tsx';
import { ErrorView } from './ui/error-view.tsx';
import { LinkAnchor } from './ui/layout/links.tsx';
import { Page } from './ui/layout/page.tsx';
import { PageSkeleton } from './ui/layout/page-skeleton.tsx';

const rootRoute = createRootRoute({ component: Shell });

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(loadedAgain(() => import('./shell/start-page.tsx'))),
});

const datasetsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/datasets',
  validateSearch: parseDatasetsSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./datasets/list/datasets-page.tsx'))),
});

const datasetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/datasets/$id',
  validateSearch: parseDatasetSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./datasets/dataset-page.tsx'))),
});

const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/import',
  validateSearch: parseImportSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./hub-import/import-page.tsx'))),
});

const uploadRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/upload',
  component: lazyRouteComponent(loadedAgain(() => import('./upload/upload-page.tsx'))),
});

const jobsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs',
  validateSearch: parseJobsSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./jobs/jobs-page.tsx'))),
});

const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  validateSearch: parseRunsSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./runs/runs-page.tsx'))),
});

const newRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/new',
  validateSearch: parseNewRunSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./runs/create/new-run-page.tsx'))),
});

const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$id',
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./runs/run-page.tsx'))),
});

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compare',
  validateSearch: parseCompareSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./compare/compare-page.tsx'))),
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  component: lazyRouteComponent(loadedAgain(() => import('./settings/settings-page.tsx'))),
});

const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(loadedAgain(() => import('./audit/audit-page.tsx'))),
});

const statusRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status',
  component: lazyRouteComponent(loadedAgain(() => import('./status/status-page.tsx'))),
});

/** Creates the router: every page under `/console`, `/` for the start page. */
export function createConsoleRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      indexRoute,
      datasetsRoute,
      datasetRoute,
      importRoute,
      uploadRoute,
      jobsRoute,
      runsRoute,
      newRunRoute,
      runRoute,
      compareRoute,
      settingsRoute,
      statusRoute,
      auditRoute,
    ]),
    basepath: '/console',
    // plain texts: the parsers of the pages know which are numbers
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const stated = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
      const text = new URLSearchParams(stated.map(([name, value]) => [name, String(value)])).toString();
      return text === '' ? '' : `?${text}`;
    },
    defaultPreload: 'intent',
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ({ error, reset }) => <ErrorView error={error} onRetry={reset} />,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
}

/** Loads the code of every page, so that a click needs no more of it than is there. */
export async function preloadPages({ routesById }: ConsoleRouter): Promise<void> {
  for (const { options } of Object.values(routesById))
    await (options.component as { readonly preload?: () => Promise<unknown> } | undefined)?.preload?.();
}

export type ConsoleRouter = ReturnType<typeof createConsoleRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ConsoleRouter;
  }
}

/** What an address without a page shows. */
function NotFound() {
  return (
    <Page title="Not found">
      <Text>
        The console has no page at this address. <LinkAnchor to="/datasets">See the datasets</LinkAnchor>.
      </Text>
    </Page>
  );
}
