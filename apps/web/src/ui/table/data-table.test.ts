import { MantineProvider } from '@mantine/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { DataTable } from './data-table.tsx';

const htmlOf = (props: object): string =>
  renderToStaticMarkup(
    createElement(
      MantineProvider,
      null,
      createElement(DataTable<string>, {
        label: 'Results',
        columns: [{ label: 'Name', cell: (row: string) => row, sortBy: (row: string) => row }],
        keyOf: (row: string) => row,
        ...props,
      } as never),
    ),
  );

const longOf = (total: number): string =>
  htmlOf({ total, at: () => undefined, open: 0, onOpen: () => undefined, fills: true });

it('counts its heading, and names no active row before its rows are in the page', () => {
  const html = longOf(120);
  expect(html).toContain('role="grid"');
  expect(html).toContain('aria-rowcount="121"');
  expect(html).not.toContain('aria-selected');
  expect(html).not.toContain('aria-activedescendant');
});

it('says where the list continues beyond the last row that it can show', () => {
  expect(longOf(1_000_000)).not.toContain('The list shows');
  expect(longOf(1_234_567)).toContain('The list shows the first 1,000,000 of 1,234,567.');
});

it('orders rows in memory by what the address says, and marks those that are chosen', () => {
  const view = { sort: '-Name' };
  const html = htmlOf({
    rows: ['a', 'c', 'b'],
    view,
    onView: () => undefined,
    chosen: ['c'],
    onChoose: () => undefined,
  });
  const rows = html.split('<tr').slice(2);
  expect(rows.map((row) => /<td dir="auto"[^>]*>(.)/.exec(row)?.[1])).toEqual(['c', 'b', 'a']);
  expect(rows.map((row) => row.includes('aria-selected="true"'))).toEqual([true, false, false]);
  expect(html).toContain('aria-sort="descending"');
});
