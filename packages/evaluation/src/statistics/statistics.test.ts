import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compareScores } from './compare-scores.ts';
import { estimateMean } from './estimate.ts';
import { mcnemar } from './mcnemar.ts';
import { passAtK, passHatK } from './pass-at-k.ts';

const PROGRAM = fileURLToPath(new URL('../../../../conformance/runs/scores.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Numbers in [0, 1) from a seed: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / values.length;
function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1));
}

describe('estimateMean', () => {
  it.each([
    [null, 0, null, { mean: null, stderr: null, ci95: null }],
    [0.5, 1, null, { mean: 0.5, stderr: null, ci95: null }],
    [0.5, 4, 0.2, { mean: 0.5, stderr: 0.1, ci95: [0.5 - 0.196, 0.5 + 0.196] }],
  ] as const)('of mean %s over %s items with deviation %s', (mean, items, deviation, expected) => {
    expect(estimateMean(mean, items, deviation)).toEqual(expected);
  });
});

describe('compareScores', () => {
  it('has intervals that cover the true difference in 93 % to 97 % of 1,000 pairs of runs', () => {
    const random = randomFrom(20_240_607);
    let covered = 0;
    for (let pair = 0; pair < 1_000; pair += 1) {
      // each item has a difficulty that both runs share, and two repetitions
      const differences = Array.from({ length: 200 }, () => {
        const difficulty = random();
        const scoreOf = (skill: number): number =>
          meanOf([0, 1].map(() => (random() < difficulty * 0.8 + skill ? 1 : 0)));
        const [score, other] = [scoreOf(0.05), scoreOf(0.15)];
        return other - score;
      });
      const { ci95 } = compareScores({
        ...{ paired: 200, mean: 0, otherMean: 0, wins: 0, losses: 0, ties: 0 },
        ...{ onlyThisPassed: 0, onlyOtherPassed: 0 },
        meanDifference: meanOf(differences),
        differenceDeviation: deviationOf(differences),
      });
      if (ci95 !== null && ci95[0] <= 0.1 && 0.1 <= ci95[1]) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(930);
    expect(covered).toBeLessThanOrEqual(970);
  });
});

describe('mcnemar', () => {
  // scipy.stats.binomtest(k, n, 0.5).pvalue
  it.each([
    [0, 0, 1],
    [1, 0, 1],
    [0, 5, 0.0625],
    [3, 12, 0.03515625],
    [10, 10, 1],
  ])('of %s and %s pairs is %s', (first, second, p) => expect(mcnemar(first, second)).toBeCloseTo(p, 14));

  it.skipIf(!hasPython)('is the exact binomial test', () => {
    const random = randomFrom(7);
    const pairs = Array.from({ length: 300 }, () => [Math.floor(random() * 60), Math.floor(random() * 60)]);
    pairs.push([400, 600], [1_200, 1_300], [2_000, 2_000], [0, 900], [1, 3_000]);
    const input = JSON.stringify({ mcnemar: pairs });
    const { stdout } = spawnSync('python3', [PROGRAM], { input, encoding: 'utf8' });
    const expected = (JSON.parse(stdout) as { mcnemar: number[] }).mcnemar;
    for (const [index, [first = 0, second = 0]] of pairs.entries()) {
      const p = expected[index] ?? Number.NaN;
      expect(Math.abs(mcnemar(first, second) - p)).toBeLessThanOrEqual(p * 1e-9);
    }
  });

  it('takes a million pairs', () => {
    expect(mcnemar(500_000, 500_000)).toBe(1);
    expect(mcnemar(500_000, 502_000)).toBeCloseTo(0.0459, 3);
  });
});

describe('passHatK', () => {
  /** The share of all subsets of k tries that pass, by going through them. */
  function enumerated(tries: number, passed: number, k: number): number {
    let all = 0;
    let passing = 0;
    for (let subset = 0; subset < 2 ** tries; subset += 1) {
      const chosen = Array.from({ length: tries }, (_, at) => at).filter((at) => (subset >> at) & 1);
      if (chosen.length !== k) continue;
      all += 1;
      if (chosen.every((at) => at < passed)) passing += 1;
    }
    return passing / all;
  }

  it('is the chance that all of k tries pass, over the items with as many', () => {
    for (let tries = 1; tries <= 7; tries += 1) {
      for (let passed = 0; passed <= tries; passed += 1) {
        const found = passHatK([{ tries, passed, items: 2 }], 9);
        expect(Object.keys(found)).toHaveLength(tries);
        for (const [k, value] of Object.entries(found))
          expect(value).toBeCloseTo(enumerated(tries, passed, Number(k)), 12);
      }
    }
    const counts = [
      { tries: 1, passed: 1, items: 9 },
      { tries: 2, passed: 1, items: 1 },
    ];
    expect(passHatK(counts, 2)).toEqual({ 1: 0.95, 2: 0 });
    expect(passHatK([], 3)).toEqual({});
  });
});

describe('passAtK', () => {
  it.each([
    [
      [
        { tries: 1, passed: 1, items: 3 },
        { tries: 1, passed: 0, items: 1 },
      ],
      1,
      { 1: 0.75 },
    ],
    // 1 - C(3, 2) / C(5, 2)
    [[{ tries: 5, passed: 2, items: 1 }], 2, { 1: 0.4, 2: 0.7 }],
    [[{ tries: 3, passed: 2, items: 1 }], 3, { 1: 2 / 3, 2: 1, 3: 1 }],
    // an item without enough tries does not count
    [
      [
        { tries: 1, passed: 0, items: 9 },
        { tries: 2, passed: 2, items: 1 },
      ],
      2,
      { 1: 0.1, 2: 1 },
    ],
    [[], 3, {}],
  ])('of %j up to %s', (counts, maxK, expected) => {
    const found = passAtK(counts, maxK);
    expect(Object.keys(found)).toEqual(Object.keys(expected));
    for (const [k, value] of Object.entries(expected)) expect(found[k]).toBeCloseTo(value, 14);
  });
});
