import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { VirtualList } from './virtual-list.tsx';

it('names no active row before its rows are in the page', () => {
  const html = renderToStaticMarkup(
    createElement(VirtualList, {
      label: 'Results',
      count: 120,
      selected: 0,
      onSelect: () => undefined,
      renderRow: () => null,
      columns: '1fr',
    }),
  );
  expect(html).toContain('role="listbox"');
  expect(html).not.toContain('role="option"');
  expect(html).not.toContain('aria-activedescendant');
});
