import { createElement } from 'react';
import { describe, expect, it } from 'vitest';
import { htmlOf } from '../../../test/html-of.ts';
import { COMMON_KEYS } from './slices.tsx';
import { WorseSlices, worseThanRest } from './worse-slices.tsx';

const slice = (name: string, passed: number, wrong: number) => ({ name, passed, wrong });

describe('worseThanRest', () => {
  it('has the p of Fisher’s exact test', () => {
    // R: fisher.test(matrix(c(6, 4, 5, 35), 2), alternative = "greater"): 6 of 10 wrong against 5 of 40
    const [hard] = worseThanRest([slice('hard', 4, 6)], { passed: 39, wrong: 11 });
    expect(hard).toMatchObject({ share: 0.4, restShare: 35 / 40, scored: 10 });
    expect(hard?.q).toBeCloseTo(exactTail(50, 11, 10, 6), 12);
    // and of large numbers
    const [large] = worseThanRest([slice('large', 700, 300)], { passed: 80_000, wrong: 20_000 });
    expect(large?.q).toBeGreaterThan(1e-15);
    expect(large?.q).toBeLessThan(1e-12);
  });

  it('holds the false discovery rate over all slices', () => {
    const whole = { passed: 390, wrong: 110 };
    const slices = [
      slice('a', 4, 6),
      slice('b', 3, 7),
      slice('c', 50, 10),
      slice('whole', 390, 110),
      slice('none', 0, 0),
    ];
    const tested = worseThanRest(slices, whole);
    expect(tested.map(({ slice: { name } }) => name)).toEqual(['b', 'a', 'c']);
    const [b, a, c] = tested.map(({ q }) => q);
    const [pA, pB] = [exactTail(500, 110, 10, 6), exactTail(500, 110, 10, 7)];
    expect(b).toBeCloseTo(Math.min(3 * pB, 1.5 * pA), 10);
    expect(a).toBeCloseTo(1.5 * pA, 10);
    expect(c).toBe(1);
  });

  it('finds nothing in a slice of two wrong answers', () => {
    const [few] = worseThanRest([slice('few', 0, 2)], { passed: 40, wrong: 20 });
    expect(few?.q).toBeCloseTo((20 * 19) / (60 * 59), 12);
    expect(worseThanRest([], { passed: 1, wrong: 1 })).toEqual([]);
  });
});

/** The same by whole numbers. */
function exactTail(total: number, wrong: number, drawn: number, least: number): number {
  const choose = (n: bigint, k: bigint): bigint => {
    let result = 1n;
    for (let at = 1n; at <= k; at += 1n) result = (result * (n - k + at)) / at;
    return k < 0n || k > n ? 0n : result;
  };
  let sum = 0n;
  for (let at = least; at <= Math.min(wrong, drawn); at += 1)
    sum += choose(BigInt(wrong), BigInt(at)) * choose(BigInt(total - wrong), BigInt(drawn - at));
  const digits = 10n ** 30n;
  return Number((sum * digits) / choose(BigInt(total), BigInt(drawn))) / 1e30;
}

it('names the keys that it did not test', async () => {
  const run = { id: 'r', config: {}, scores: { passed: 1, wrong: 1 }, finished_at: null } as never;
  const part = createElement(WorseSlices, { run, scorer: undefined, onChoose: () => undefined });
  const html = await htmlOf(part, [
    [
      ['worse slices', 'r', undefined, COMMON_KEYS.length, null],
      { slices: [], left: [], rest: ['level', 'source'] },
    ],
  ]);
  expect(html).toContain('Too many keys, not tested: level, source.');
});
