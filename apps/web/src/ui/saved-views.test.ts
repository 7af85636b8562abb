import { expect, it } from 'vitest';
import { addressOf, viewOf } from './saved-views.tsx';

it('keeps filters, columns and order of a list, for any dataset and run', () => {
  const stated = { q: 'x', 'meta./level': 'hard', columns: 'id,score', widths: 'id:90', sort: '-score' };
  const ofAVisit = { item: 'a'.repeat(64), result: 'b', cursor: 'c', chosen: 'd', tab: 'items' };
  expect(viewOf({ ...stated, ...ofAVisit, version: '2', type: undefined, passed: false })).toEqual({
    ...stated,
    passed: false,
  });
});

it('shows a view of the version that is looked at, without other filters', () => {
  expect(addressOf({ q: 'x' }, { version: '2', section: 'a', item: 'b' })).toEqual({ version: '2', q: 'x' });
});
