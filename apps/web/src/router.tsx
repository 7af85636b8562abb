import { Text } from '@mantine/core';
import { REQUEST_VALUES } from '@svc/client';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { loadedAgain } from './api/service-responds.ts';
import { parseCompareSearch } from './compare/compare-search.ts';
import { parseDatasetSearch, parseDatasetsSearch } from './datasets/dataset-search.ts';
import { parseImportSearch } from './hub-import/hub-source.ts';
import { parseNewRunSearch, parseRunSearch, parseRunsSearch } from './runs/runs-search.ts';
import { Shell } from './shell/shell.tsx';
import { LinkAnchor } from './ui/buttons.tsx';
import { Page } from './ui/layout/page.tsx';
import { ErrorView, PageSkeleton } from './ui/query-state.tsx';
import { oneOf, type RawSearch, searchParser, searchText, text } from './ui/search-params.ts';

const rootRoute = createRootRoute({ component: Shell });

type Load = () => Promise<{ readonly default: ComponentType }>;

/** A page whose code is loaded when it is opened, and the reader of its address. */
const page = <const Path extends string, Search extends object = object>(
  path: Path,
  load: Load,
  validateSearch: (search: RawSearch) => Search = () => ({}) as Search,
) =>
  createRoute({
    ...{ getParentRoute: () => rootRoute, path, validateSearch },
    component: lazyRouteComponent(loadedAgain(load)),
    // what is chosen and typed in the page of one dataset or run is not of the next one
    remountDeps: ({ params }) => params,
  });

const parseJobsSearch = searchParser({
  status: oneOf(...REQUEST_VALUES['/jobs'].status),
  kind: oneOf(...REQUEST_VALUES['/jobs'].kind),
  cursor: text,
});

const parseAuditSearch = searchParser({
  action: oneOf(...REQUEST_VALUES['/audit'].action),
  ...{ actor: text, object: text, from: text, to: text, cursor: text },
});

export function createConsoleRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      page('/', () => import('./shell/start-page.tsx')),
      page('/datasets', () => import('./datasets/list/datasets-page.tsx'), parseDatasetsSearch),
      page('/datasets/$id', () => import('./datasets/dataset-page.tsx'), parseDatasetSearch),
      page('/import', () => import('./hub-import/import-page.tsx'), parseImportSearch),
      page('/upload', () => import('./upload/upload-page.tsx')),
      page('/jobs', () => import('./jobs/jobs-page.tsx'), parseJobsSearch),
      page('/runs', () => import('./runs/runs-page.tsx'), parseRunsSearch),
      page('/runs/new', () => import('./runs/create/new-run-page.tsx'), parseNewRunSearch),
      page('/runs/$id', () => import('./runs/run-page.tsx'), parseRunSearch),
      page('/compare', () => import('./compare/compare-page.tsx'), parseCompareSearch),
      page('/settings', () => import('./settings/settings-page.tsx')),
      page('/audit', () => import('./audit/audit-page.tsx'), parseAuditSearch),
      page('/status', () => import('./status/status-page.tsx')),
    ]),
    basepath: '/console',
    // plain texts: the parsers of the pages know which are numbers
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: searchText,
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

function NotFound() {
  return (
    <Page title="Not found">
      <Text>
        The console has no page at this address. <LinkAnchor to="/datasets">See the datasets</LinkAnchor>.
      </Text>
    </Page>
  );
}
