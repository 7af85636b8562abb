import { expect, it } from 'vitest';
import type { Run } from '../runs/queries.ts';
import { bestOf, itemsOf, tookOf } from './best-of.ts';

const costs = (took: number): string => took.toPrecision(3);

it('finds the runs than which none is better for at most the same', () => {
  const runs = [
    { run: 'dear', took: 9, score: 0.9 },
    { run: 'worse for more', took: 5, score: 0.4 },
    { run: 'cheap', took: 1, score: 0.5 },
    { run: 'worse for the same', took: 1, score: 0.3 },
    { run: 'worse for what looks the same', took: 0.9999, score: 0.438 },
    { run: 'as good for the same', took: 1.0001, score: 0.5 },
    { run: 'equal for more', took: 12, score: 0.9 },
  ];
  expect(bestOf(runs, costs).map(({ run }) => run)).toEqual(['cheap', 'as good for the same', 'dear']);
  expect(bestOf([], costs)).toEqual([]);
});

const run = (done: number, amount: number, facts: object = {}): Run =>
  ({
    dataset_version_hash: 'v1',
    config: {},
    counts: { done, total: done },
    cost: { amount, currency: 'USD' },
    usage: { input_tokens: 20 * done, output_tokens: 10 * done },
    latency_ms: { p50: 400 },
    ...facts,
  }) as unknown as Run;

it('compares what runs of more and of fewer items took for each 1,000 results', () => {
  const [all, few] = [run(1_319, 0.0687), run(50, 0.0661)];
  const took = (of: Run, against: 'cost' | 'tokens' | 'latency', currency = 'USD') =>
    tookOf(of, against, of, currency);
  expect([all, few].map((of) => took(of, 'cost')?.toFixed(3))).toEqual(['0.052', '1.322']);
  expect([all, few].map((of) => took(of, 'tokens'))).toEqual([30_000, 30_000]);
  expect(took(all, 'latency')).toBe(400);
  expect(took(all, 'cost', 'EUR')).toBeNull();
  expect(took(run(0, 0), 'cost')).toBeNull();
});

it('tells runs of the same items from others', () => {
  const same = itemsOf(run(100, 1));
  expect(itemsOf(run(200, 2))).toBe(same);
  expect(itemsOf(run(100, 1, { dataset_version_hash: 'v2' }))).not.toBe(same);
  expect(itemsOf(run(50, 1, { config: { select: { limit: 50 } } }))).not.toBe(same);
  expect(itemsOf(run(40, 1, { counts: { done: 40, total: 100 } }))).not.toBe(same);
});
