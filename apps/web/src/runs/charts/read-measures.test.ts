import { expect, it } from 'vitest';
import { refreshMs } from './read-measures.ts';

it('reads the measures of many results again less often', () => {
  expect([0, 5_000, 200_000].map(refreshMs)).toEqual([5_000, 5_000, 200_000]);
});
