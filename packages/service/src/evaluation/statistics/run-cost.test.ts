import { expect, it } from 'vitest';
import { costOf, runCost } from './run-cost.ts';

const price = { input_per_million: 0.1, output_per_million: 0.2, currency: 'EUR' };

it.each([
  [1_000_000, 1_000_000, 0.3],
  [1, 1, 3e-7],
  [3, 0, 3e-7],
  [123_456_789, 987_654_321, 209.8765431],
  [0, 0, 0],
])('%i and %i tokens cost %d', (input, output, cost) => {
  expect(costOf(price, input, output)).toBe(cost);
});

it('adds what judges charged', () => {
  const tokens = { inputTokens: 1_000_000, outputTokens: 0 };
  const sum = Array.from({ length: 1000 }, () => 0.0002).reduce((a, b) => a + b);
  expect(runCost({ model: price, judge: null }, { ...tokens, judgeCost: sum })).toEqual({
    amount: 0.3,
    currency: 'EUR',
  });
});
