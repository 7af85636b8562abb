import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { normalQuantile } from '../src/evaluation.ts';
import { detectableDrop, itemsToDetect, planGate, sightOf, sightText } from '../src/gate/sight.ts';

/** The variance of scores with a mean of 80 %. */
const USUAL = { variance: 0.16, correlation: 0.5 };

// scipy.stats.norm.ppf
it.each([
  [0.5, 0],
  [0.8, 0.841621],
  [0.9, 1.281552],
  [0.975, 1.959964],
  [0.9995, 3.290527],
  [0.025, -1.959964],
])('has the quantile of %d', (chance, quantile) => {
  expect(normalQuantile(chance)).toBeCloseTo(quantile, 3);
});

describe('what a gate can see', () => {
  it('is (1.96 + 0.84) · sqrt(2 s² (1 - r) / n)', () => {
    expect(detectableDrop(USUAL, 200, 0.8)).toBeCloseTo(
      (1.96 + 0.84) * Math.sqrt((2 * 0.16 * 0.5) / 200),
      12,
    );
    expect(detectableDrop(USUAL, 200, 0.9)).toBeCloseTo(
      (1.96 + 1.28) * Math.sqrt((2 * 0.16 * 0.5) / 200),
      12,
    );
    expect(itemsToDetect(USUAL, 0.02, 0.8)).toBe(3136);
    expect(detectableDrop(USUAL, 3136, 0.8)).toBeCloseTo(0.02, 12);
    expect(itemsToDetect({ variance: 0.16, correlation: 1 }, 0.02, 0.8)).toBe(2);
  });

  it('is a sentence, as docs/gate.md shows it', () => {
    const sight = sightOf(
      { ...USUAL, variance_assumed: false, measured_with: null },
      { items: 200, drop: 0.02, power: 0.8 },
    );
    const page = readFileSync(new URL('../../../docs/gate.md', import.meta.url), 'utf8');
    expect(page).toContain(`${sightText(sight, '0b9f2c1e-…', 0.02)}\n`);
    const none = sightOf(
      { ...USUAL, variance_assumed: false, measured_with: 'r' },
      { items: 200, drop: 0, power: 0.8 },
    );
    expect(sightText(none, 'b', 0)).toBe(
      'With 200 items you will see a drop of 7.9 points (power 0.8, variance of b, correlation 0.5 of the last comparison, with r)',
    );
  });
});

it.each([
  ['enough items', 10_000, 1, { items: 3136, repetitions: 1, detectable: 0.02 }],
  ['too few items', 1_000, 1, { items: 1_000, repetitions: 4, detectable: 0.0177 }],
  ['a baseline with repetitions', 1_000, 3, { items: 1_000, repetitions: 12, detectable: 0.0177 }],
  ['far too few items', 10, 1, { items: 10, repetitions: 100, detectable: 0.0354 }],
])('plans a gate with %s', (_, available, repetitions, plan) => {
  const planned = planGate(USUAL, { available, repetitions, detect: 0.02, power: 0.8 });
  expect(planned).toEqual({ ...plan, detectable: expect.closeTo(plan.detectable, 4) });
});
