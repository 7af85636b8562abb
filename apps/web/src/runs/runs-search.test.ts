import { expect, it } from 'vitest';
import { parseRunSearch, parseRunsSearch } from './runs-search.ts';

const stated = (search: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(parseRunSearch(search)).filter(([, value]) => value !== undefined));

it('reads what the address of a run states, and leaves out the rest', () => {
  expect(
    stated({
      ...{ tab: 'charts', status: 'lost', q: 7, section: '', passed: 'false', other: true, unknown: 'x' },
      ...{ min_score: '0.5', max_score: 'high', 'meta./level': 'hard', sort: '-score' },
    }),
  ).toEqual({
    ...{ tab: 'charts', q: '7', passed: false, other: 'true', min_score: 0.5 },
    ...{ 'meta./level': 'hard', sort: '-score' },
  });
});

it('keeps the bounds of a blind sample', () => {
  expect(stated({ sample: 'blind', n: '1000', seed: '0' })).toEqual({ sample: 'blind', n: 1000, seed: 0 });
  expect(stated({ sample: 'open', n: '1001', seed: '-1' })).toEqual({});
  expect(stated({ n: '1.5', seed: '2147483648' })).toEqual({});
});

it('filters runs by each status, also that of a run whose results come from outside', () => {
  expect(parseRunsSearch({ status: 'waiting' }).status).toBe('waiting');
  expect(parseRunsSearch({ status: 'lost' }).status).toBeUndefined();
});
