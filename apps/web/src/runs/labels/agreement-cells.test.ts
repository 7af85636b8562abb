import { createElement } from 'react';
import { expect, it } from 'vitest';
import { htmlOf } from '../../../test/html-of.ts';
import { CellResults } from './agreement-cells.tsx';

const results = { run: { id: 'r' } as never, by: undefined, other: 'main', cell: 'both_pass' } as const;

it('counts no results of a cell before they are read', async () => {
  const html = await htmlOf(createElement(CellResults, results));
  expect(html).toContain('aria-label="Loading"');
  expect(html).not.toContain('0 of 0');
});
