import { MantineProvider } from '@mantine/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { VirtualList } from './virtual-list.tsx';

const htmlOf = (total: number): string =>
  renderToStaticMarkup(
    createElement(
      MantineProvider,
      null,
      createElement(VirtualList, {
        label: 'Results',
        total,
        selected: 0,
        onSelect: () => undefined,
        renderRow: () => null,
        columns: '1fr',
      }),
    ),
  );

it('names no active row before its rows are in the page', () => {
  const html = htmlOf(120);
  expect(html).toContain('role="listbox"');
  expect(html).not.toContain('role="option"');
  expect(html).not.toContain('aria-activedescendant');
});

it('says where the list continues beyond the last row that it can show', () => {
  expect(htmlOf(1_000_000)).not.toContain('The list shows');
  expect(htmlOf(1_234_567)).toContain('The list shows the first 1,000,000 of 1,234,567.');
});
