import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { useWindows } from './use-windows.ts';

function Rows({ filters }: { readonly filters: object }): string {
  const read = () => Promise.reject(new Error('Nothing is read.'));
  return JSON.stringify(useWindows({ key: ['results', 'r', filters], size: 10, read }).rows());
}

it('has the rows of one list only, also where another one in memory has more filters', () => {
  const client = new QueryClient();
  const rowsOf = (filters: object): string =>
    renderToStaticMarkup(createElement(QueryClientProvider, { client }, createElement(Rows, { filters })));
  rowsOf({ sort: 1 });
  rowsOf({});
  for (const { queryKey, queryHash } of client.getQueryCache().getAll())
    client.setQueryData(queryKey, {
      data: [queryHash.includes('sort') ? 1 : 2],
      meta: { next_cursor: null, total_items: 1 },
    });
  expect(rowsOf({})).toBe('[[0,2]]');
  expect(rowsOf({ sort: 1 })).toBe('[[0,1]]');
});
