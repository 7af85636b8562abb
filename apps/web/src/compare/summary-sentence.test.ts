import { expect, it } from 'vitest';
import { summarySentence, verdictSentence } from './summary-sentence.ts';

const NUMBERS = {
  mean_difference: 0.062,
  ci95: [0.041, 0.083],
  paired: 1500,
  wins: 31,
  losses: 0,
};

it('says a comparison in one sentence', () => {
  expect(summarySentence({ ...NUMBERS, p_value: 0.0000001 })).toBe(
    '+6.2 points, 95 % CI 4.1 to 8.3, n = 1,500, 31 better, 0 worse, p < 0.001',
  );
  expect(summarySentence({ ...NUMBERS, mean_difference: -0.01, ci95: [-0.03, 0.012], p_value: 0.25 })).toBe(
    '−1.0 points, 95 % CI −3.0 to 1.2, n = 1,500, 31 better, 0 worse, p = 0.250',
  );
  expect(summarySentence({ ...NUMBERS, ci95: null, p_value: null })).toBe(
    '+6.2 points, n = 1,500, 31 better, 0 worse',
  );
  const two = { ...NUMBERS, mean_difference: -1, ci95: [-1, -1], paired: 2, wins: 0, losses: 2 };
  expect(summarySentence({ ...two, p_value: 0.5, verdict: 'undecided' })).toBe(
    '−100.0 points, 95 % CI −100.0 to −100.0, n = 2, 0 better, 2 worse, p = 0.500, too few items to decide',
  );
  expect(summarySentence({ ...NUMBERS, mean_difference: null, p_value: null })).toBeNull();
});

it('says who is better, by how much, and how sure that is', () => {
  const [plain, steps] = ['plain', 'steps'].map((name) => ({ id: name, name, config: {} as never }));
  const said = (numbers: object): string | null =>
    plain === undefined || steps === undefined
      ? null
      : verdictSentence({ ...NUMBERS, p_value: null, ...numbers }, plain, steps);
  expect(said({ mean_difference: 0.054, ci95: [0.039, 0.069], paired: 1319 })).toBe(
    'steps is better by 5.4 points, 95 % CI 3.9 to 6.9, 1,319 items, against plain',
  );
  expect(said({ mean_difference: -0.054, ci95: [-0.069, -0.039], paired: 1319 })).toBe(
    'steps is worse by 5.4 points, 95 % CI 3.9 to 6.9, 1,319 items, against plain',
  );
  expect(said({ mean_difference: 0.01, ci95: [-0.012, 0.03] })).toBe(
    'No clear difference: steps is at +1.0 points, 95 % CI −1.2 to 3.0, 1,500 items, against plain',
  );
  expect(said({ mean_difference: 0, ci95: null })).toBe(
    'No clear difference: steps is at 0.0 points, 1,500 items, against plain',
  );
  expect(said({ paired: 2, verdict: 'undecided' })).toBe(
    'Undecided: 2 items are too few to tell steps from plain',
  );
  expect(said({ mean_difference: null })).toBeNull();
});
