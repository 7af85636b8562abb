import { expect, it } from 'vitest';
import { bestOf } from './best-of.ts';

it('finds the runs than which none is better for at most the same', () => {
  const runs = [
    { run: 'dear', took: 9, score: 0.9 },
    { run: 'worse for more', took: 5, score: 0.4 },
    { run: 'cheap', took: 1, score: 0.5 },
    { run: 'same for less', took: 1, score: 0.3 },
    { run: 'equal for more', took: 12, score: 0.9 },
  ];
  expect(bestOf(runs).map(({ run }) => run)).toEqual(['cheap', 'dear']);
  expect(bestOf([])).toEqual([]);
});
