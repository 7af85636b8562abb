import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider, type QueryKey } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

/** A part of the console as it is first drawn, with what its queries have read. */
export async function htmlOf(
  part: ReactElement,
  read: readonly (readonly [QueryKey, unknown])[] = [],
): Promise<string> {
  const queries = new QueryClient();
  for (const [key, data] of read) queries.setQueryData(key, data);
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: '/', component: () => part });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory(),
    isServer: true,
  });
  await router.load();
  const routed = createElement(RouterProvider, { router: router as never });
  const client = createElement(QueryClientProvider, { client: queries }, routed);
  return renderToStaticMarkup(createElement(MantineProvider, null, client));
}
