import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ComparedScores, compareScores, mcnemar } from './compare-scores.ts';
import { type GroupScores, groupScores, passAtK, passHatK } from './group-scores.ts';
import { type Spread, shareInterval, standardError, studentT } from './intervals.ts';

const PROGRAM = fileURLToPath(new URL('../../../../../conformance/runs/scores.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasScipy = spawnSync('python3', ['-c', 'import scipy.stats']).status === 0;

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

/** What `conformance/runs/scores.py` computes. */
function computed(request: object): Record<string, number[]> {
  const { stdout, stderr } = spawnSync('python3', [PROGRAM], {
    input: JSON.stringify(request),
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout);
}

describe('studentT', () => {
  // Abramowitz and Stegun, table 26.10; scipy.stats.t.ppf(0.975, n)
  it.each([
    [1, 12.706204736174694],
    [2, 4.302652729749462],
    [3, 3.182446305283708],
    [4, 2.776445105197793],
    [9, 2.262157162798205],
    [10, 2.228138851986274],
    [29, 2.045229642132703],
    [30, 2.042272456301238],
    [99, 1.9842169515864174],
    [100, 1.9839715185235518],
    [101, 1.983731002955606],
    [299, 1.9679296690654],
    [1_000_000, 1.959966356814107],
  ])('of %s degrees of freedom is %s', (freedom, t) => expect(studentT(freedom)).toBeCloseTo(t, 9));

  it.skipIf(!hasScipy)('is that of scipy for every number of degrees of freedom', () => {
    const program = `
import json
from scipy.stats import t
print(json.dumps([t.ppf(0.975, n) for n in range(1, 3001)]))`;
    const { stdout } = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
    for (const [index, t] of (JSON.parse(stdout) as number[]).entries()) {
      expect(Math.abs(studentT(index + 1) - t) / t).toBeLessThan(1e-9);
    }
  });
});

/** The spread of values in these clusters. */
function spreadOf(values: readonly number[], clusters: readonly number[]): Spread {
  const mean = meanOf(values);
  const sums = new Map<number, number>();
  for (const [index, value] of values.entries()) {
    const cluster = clusters[index] ?? 0;
    sums.set(cluster, (sums.get(cluster) ?? 0) + value - mean);
  }
  const squares = [...sums.values()].reduce((sum, one) => sum + one * one, 0);
  return { values: values.length, clusters: sums.size, squares };
}

const alone = (values: readonly number[]): Spread => spreadOf(values, [...values.keys()]);

/** Scores of one scorer, one for each item; without clusters, each item is on its own. */
function scoresOf(scores: readonly number[], clusters: readonly number[] = [...scores.keys()]): GroupScores {
  const spread = spreadOf(scores, clusters);
  const passed = scores.filter((score) => score === 1).length;
  const wrong = scores.length - passed;
  const shares = spreadOf(
    scores.map((score) => (score === 1 ? 1 : 0)),
    clusters,
  );
  return groupScores(
    {
      ...{
        results: scores.length,
        ok: scores.length,
        failed: 0,
        unscored: 0,
        scored: scores.length,
        passed,
        wrong,
      },
      ...{ scoreSum: scores.reduce((sum, one) => sum + one, 0), passCounts: [], scoredItems: scores.length },
      isBinary: scores.every((score) => score === 0 || score === 1),
      ...{ scoreSpread: spread, dueSpread: shares, scoredSpread: shares },
    },
    1,
  );
}

describe('standardError', () => {
  it('is that of the items where each is a cluster, and larger where clusters agree', () => {
    const values = [0.1, 0.4, 0.5, 0.9];
    expect(standardError(alone(values))).toBeCloseTo(deviationOf(values) / 2, 14);
    expect(standardError(spreadOf(values, [1, 1, 1, 1]))).toBeNull();
    expect(standardError(alone([0.3]))).toBeNull();
    // Three equal copies of each item add nothing.
    const copies = values.flatMap((value) => [value, value, value]);
    const clusters = values.flatMap((_, index) => [index, index, index]);
    expect(standardError(spreadOf(copies, clusters))).toBeCloseTo(deviationOf(values) / 2, 14);
    expect(standardError(alone(copies)) ?? 1).toBeLessThan(deviationOf(values) / 3);
  });

  it('is 0 where values are equal but for rounding, so that their share counts once for each cluster', () => {
    const third = { values: 141, clusters: 24, squares: 1e-30 };
    expect(standardError(third)).toBe(0);
    expect(shareInterval(1 / 3, third)).toEqual(shareInterval(1 / 3, { ...third, squares: 0 }));
    // one of a million values differs by a hundredth
    expect(standardError({ values: 1e6, clusters: 1e6, squares: 1e-4 })).toBeGreaterThan(0);
  });
});

describe('shareInterval', () => {
  // scipy.stats.binomtest(k, n).proportion_ci(method='wilson'); three are in Newcombe (1998), table I
  it.each([
    [81, 263, 0.2552885, 0.3662096],
    [15, 148, 0.0623864, 0.1604872],
    [0, 20, 0, 0.1611252],
    [1, 29, 0.0061132, 0.1717552],
    [29, 29, 0.8830302, 1],
    [1, 1, 0.2065493, 1],
  ])('of %s in %s', (passed, n, low, high) => {
    const interval = shareInterval(passed / n, { values: n, clusters: n, squares: 1 });
    expect(interval?.[0]).toBeCloseTo(low, 7);
    expect(interval?.[1]).toBeCloseTo(high, 7);
  });

  it('counts results that agree once', () => {
    const of = (n: number): unknown => shareInterval(1, { values: n, clusters: n, squares: 0 });
    expect(shareInterval(1, { values: 300, clusters: 20, squares: 0 })).toEqual(of(20));
    // as many as independent results with this standard error
    const spread = { values: 100, clusters: 50, squares: (49 / 50) * 100 ** 2 * (0.25 / 64) };
    expect(standardError(spread)).toBeCloseTo(Math.sqrt(0.25 / 64), 14);
    const found = shareInterval(0.5, spread);
    expect(found?.[0]).toBeCloseTo(
      shareInterval(0.5, { values: 64, clusters: 64, squares: 1 })?.[0] ?? 0,
      12,
    );
  });
});

describe('groupScores', () => {
  it.skipIf(!hasPython)('are what Python computes from the scores, for any numbers of them', () => {
    const random = randomFrom(11);
    const samples = Array.from({ length: 200 }, (_, sample) => {
      const n = 1 + Math.floor(random() * 40);
      const scores = Array.from({ length: n }, () => (sample % 2 === 0 ? Math.round(random()) : random()));
      return { scores, clusters: scores.map((_, at) => (sample % 3 === 0 ? at : Math.floor(random() * 8))) };
    });
    const expected = computed({ samples })['samples'] as unknown as object[];
    for (const [index, { scores, clusters }] of samples.entries()) {
      const { mean, stderr, ci95, pass_rate, pass_rate_ci95 } = scoresOf(scores, clusters);
      const found = { mean, stderr, ci95, pass_rate, pass_rate_ci95 };
      for (const [name, value] of Object.entries(expected[index] ?? {})) {
        const numbers = [value].flat() as (number | null)[];
        const mine = [found[name as keyof typeof found]].flat() as (number | null)[];
        expect(mine).toHaveLength(numbers.length);
        for (const [at, number] of numbers.entries()) {
          if (number === null) expect(mine[at]).toBeNull();
          else expect(mine[at]).toBeCloseTo(number, 9);
        }
      }
    }
  });

  it('warns of few items, and of few clusters', () => {
    const many = Array.from({ length: 12 }, (_, index) => index / 12);
    expect(scoresOf(many).warnings).toEqual([]);
    expect(scoresOf(many.slice(0, 9)).warnings).toMatchObject([{ code: 'few_items' }]);
    expect(
      scoresOf(
        many,
        many.map((_, index) => index % 3),
      ).warnings,
    ).toMatchObject([{ code: 'few_clusters' }]);
    expect(scoresOf([]).warnings).toEqual([]);
    const none = spreadOf([], []);
    const failed = groupScores(
      {
        ...{
          results: 80,
          ok: 0,
          failed: 80,
          unscored: 0,
          scored: 0,
          passed: 0,
          wrong: 0,
          scoreSum: 0,
          scoredItems: 0,
          passCounts: [],
        },
        ...{ isBinary: true, scoreSpread: none, dueSpread: none, scoredSpread: none },
      },
      1,
    );
    expect(failed.warnings).toEqual([
      { code: 'few_items', message: 'No scored items: the scores say little.' },
    ]);
    expect(failed).toMatchObject({ pass_rate: 0, pass_rate_scored: null });
  });

  it('counts scores without a verdict in the mean alone', () => {
    const of = (passed: number, wrong: number, failed: number): GroupScores => {
      const decided = passed + wrong;
      const shares = alone(Array.from({ length: decided }, (_, index) => Number(index < passed)));
      return groupScores(
        {
          ...{ results: 10 + failed, ok: 10, failed, unscored: 0, scored: 10, passed, wrong, scoreSum: 7.5 },
          scoredItems: 10,
          ...{ isBinary: false, scoreSpread: alone([0.5, 1]), dueSpread: shares, scoredSpread: shares },
          passCounts: [{ tries: 1, passed: 0, items: failed }],
        },
        1,
      );
    };
    expect(of(3, 1, 0)).toMatchObject({
      mean: 0.75,
      passed: 3,
      wrong: 1,
      pass_rate: 0.75,
      pass_rate_scored: 0.75,
    });
    expect(of(3, 1, 4)).toMatchObject({ pass_rate: 3 / 8, pass_rate_scored: 0.75 });
    for (const failed of [0, 4]) {
      expect(of(0, 0, failed)).toMatchObject({
        ...{ mean: 0.75, passed: 0, wrong: 0, pass_rate: null, pass_rate_ci95: null },
        ...{ pass_rate_scored: null, pass_rate_scored_ci95: null, pass_at_k: {}, pass_hat_k: {} },
      });
    }
  });

  it('has no interval beyond its scale', () => {
    for (const scores of [[0.99, 1, 1, 1, 0.8], [0, 0.01, 0, 0.3], [1, 1, 1], [0, 0], [1]]) {
      const { ci95, pass_rate_ci95, pass_rate_scored_ci95 } = scoresOf(scores);
      for (const interval of [ci95, pass_rate_ci95, pass_rate_scored_ci95]) {
        if (interval === null) continue;
        expect(interval[0]).toBeGreaterThanOrEqual(0);
        expect(interval[1]).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('coverage of 95 % intervals', () => {
  const ROUNDS = 3_000;
  /** A share of clusters whose items agree more than by chance. */
  const sample = {
    graded: (random: () => number, n: number) => {
      const level = 0.3 + 0.4 * random();
      return { truth: level, values: Array.from({ length: n }, () => level + 0.5 * (random() - 0.5)) };
    },
    binary: (random: () => number, n: number) => {
      const share = 0.1 + 0.8 * random();
      return { truth: share, values: Array.from({ length: n }, () => (random() < share ? 1 : 0)) };
    },
  };
  type Kind = keyof typeof sample;
  const coverageOf = (covers: (random: () => number) => boolean, seed: number): number => {
    const random = randomFrom(seed);
    let covered = 0;
    for (let round = 0; round < ROUNDS; round += 1) if (covers(random)) covered += 1;
    return covered / ROUNDS;
  };
  const within = (interval: readonly number[] | null, truth: number): boolean =>
    interval !== null && (interval[0] ?? 1) <= truth && truth <= (interval[1] ?? 0);

  it.each([10, 30, 300])('is 93 % to 97 % with %s items', (n) => {
    for (const kind of ['graded', 'binary'] as Kind[]) {
      const coverage = coverageOf((random) => {
        const { truth, values } = sample[kind](random, n);
        return within(scoresOf(values).ci95, truth);
      }, n);
      expect(coverage, kind).toBeGreaterThanOrEqual(0.93);
      expect(coverage, kind).toBeLessThanOrEqual(0.97);
    }
  });

  it.each([10, 30, 300])('is 93 % to 97 % with %s clusters of four items', (n) => {
    for (const kind of ['graded', 'binary'] as Kind[]) {
      const coverage = coverageOf((random) => {
        const share = 0.2 + 0.6 * random();
        const clusters = Array.from({ length: 4 * n }, (_, item) => item >> 2);
        // passages are easy or hard
        const levels = Array.from(
          { length: n },
          () => Math.min(share, 1 - share) * (2 * random() - 1) + share,
        );
        const values = clusters.map((cluster) => {
          const level = levels[cluster] ?? 0;
          return kind === 'binary' ? Number(random() < level) : level + 0.1 * (random() - 0.5);
        });
        const { ci95 } = groupScores(
          {
            ...{
              results: 4 * n,
              ok: 4 * n,
              failed: 0,
              unscored: 0,
              scored: 4 * n,
              passed: 0,
              wrong: 4 * n,
              passCounts: [],
              scoredItems: 4 * n,
            },
            scoreSum: values.reduce((sum, one) => sum + one, 0),
            isBinary: kind === 'binary',
            ...{ scoreSpread: spreadOf(values, clusters), dueSpread: alone([0]), scoredSpread: alone([0]) },
          },
          1,
        );
        return within(ci95, share);
      }, 1000 + n);
      expect(coverage, kind).toBeGreaterThanOrEqual(0.93);
      expect(coverage, kind).toBeLessThanOrEqual(0.97);
    }
  });

  it.each([10, 30, 300])('is 93 % to 97 % for the difference of two runs in %s items', (n) => {
    const coverage = coverageOf((random) => {
      // each item has a difficulty that both runs share, and five repetitions
      const differences = Array.from({ length: n }, () => {
        const difficulty = random();
        const scoreOf = (skill: number): number =>
          meanOf([0, 1, 2, 3, 4].map(() => (random() < difficulty * 0.8 + skill ? 1 : 0)));
        const [score, other] = [scoreOf(0.05), scoreOf(0.15)];
        return other - score;
      });
      const { ci95 } = compareScores({
        ...{ paired: n, decided: n, mean: 0, otherMean: 0, wins: 0, losses: 0, ties: 0 },
        ...{ onlyThisPassed: 0, onlyOtherPassed: 0 },
        meanDifference: meanOf(differences),
        spread: alone(differences),
      });
      return within(ci95, 0.1);
    }, 20_240_607 + n);
    expect(coverage).toBeGreaterThanOrEqual(0.93);
    expect(coverage).toBeLessThanOrEqual(0.97);
  });
});

describe('compareScores', () => {
  const of = (differences: readonly number[], clusters?: readonly number[]): ComparedScores =>
    compareScores({
      ...{ paired: differences.length, decided: 0, mean: 0, otherMean: 0, wins: 0, losses: 0, ties: 0 },
      ...{ onlyThisPassed: 0, onlyOtherPassed: 0 },
      meanDifference: differences.length === 0 ? null : meanOf(differences),
      spread: clusters === undefined ? alone(differences) : spreadOf(differences, clusters),
    });

  it.each([[[]], [[-1]], [[-1, -1]], [[0, 0]], [[0.25, -0.5]]])('does not decide by %j', (differences) => {
    expect(of(differences).verdict).toBe('undecided');
  });

  it('leaves three pairs or more to their interval, but not two clusters of them', () => {
    expect(of([0, 0, 0])).toMatchObject({ ci95: [0, 0] });
    expect(of([0, 0, 0])).not.toHaveProperty('verdict');
    expect(of([-1, -1, -1])).toMatchObject({ ci95: [-1, -1] });
    expect(of([-1, -1, -1])).not.toHaveProperty('verdict');
    expect(of([-1, -1, -1, -1], [1, 1, 2, 2]).verdict).toBe('undecided');
    expect(of([-1, -1, -1, -1], [1, 1, 2, 3])).not.toHaveProperty('verdict');
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
    const expected = computed({ mcnemar: pairs })['mcnemar'] ?? [];
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
