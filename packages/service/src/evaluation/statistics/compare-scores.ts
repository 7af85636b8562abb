import {
  CONFIDENCE,
  type Interval,
  meanInterval,
  normalQuantile,
  type Spread,
  standardError,
} from './intervals.ts';

export interface PairSums {
  readonly paired: number;
  /** Mean over the items of their mean scores, in each run. */
  readonly mean: number | null;
  readonly otherMean: number | null;
  /** The difference other minus this: its mean over the items, and its spread. */
  readonly meanDifference: number | null;
  readonly spread: Spread;
  /** Items in which the other run is better, worse, equal. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** Items that have passed or failed in both runs. */
  readonly decided: number;
  /** Items that only this run passed, and only the other. */
  readonly onlyThisPassed: number;
  readonly onlyOtherPassed: number;
}

export type ComparedScores = ReturnType<typeof compareScores>;

const SCALE: Interval = [-1, 1];

/**
 * Fewer pairs, or clusters of them, decide nothing: the interval of two that differ alike by chance has no width. Between
 * runs of one model that passes half the time, this happens in 1 comparison of 8, and with three pairs in 1 of 32.
 */
const MIN_CLUSTERS = 3;

/** Paired by item, so that the difficulty of an item, which both runs share, does not count as uncertainty. */
export function compareScores(sums: PairSums, confidence: number = CONFIDENCE) {
  const { paired, decided, wins, losses, ties, meanDifference, spread } = sums;
  return {
    paired,
    mean: sums.mean,
    other_mean: sums.otherMean,
    /** Other minus this. */
    mean_difference: meanDifference,
    stderr: standardError(spread),
    ci95: meanDifference === null ? null : meanInterval(meanDifference, spread, SCALE, confidence),
    wins,
    losses,
    ties,
    /** Over the pairs that have passed or failed in both runs; null without one. */
    p_value: decided === 0 ? null : mcnemar(sums.onlyThisPassed, sums.onlyOtherPassed),
    // With enough pairs, the interval says how the runs differ.
    ...(spread.clusters < MIN_CLUSTERS && { verdict: 'undecided' as const }),
  };
}

/**
 * McNemar's exact test for paired outcomes that pass or fail: the probability, if both runs pass with equal chance, of
 * a split at least as uneven as the one found.
 *
 * @returns two-sided p value of the binomial test with chance 1/2; 1 if no pair differs
 */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
  const pairs = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  if (pairs === 0 || 2 * fewer === pairs) return 1;
  // C(n, k) / 2^n for k = fewer, then downwards: each term is smaller than the one before.
  let term = Math.exp(
    logFactorial(pairs) - logFactorial(fewer) - logFactorial(pairs - fewer) - pairs * Math.LN2,
  );
  let sum = 0;
  for (let k = fewer; k >= 0 && term > sum * Number.EPSILON; k -= 1) {
    sum += term;
    term *= k / (pairs - k + 1);
  }
  return Math.min(1, 2 * sum);
}

/** The natural logarithm of n!: exact products for small n, else Stirling's series, whose error is below 1e-15. */
function logFactorial(n: number): number {
  if (n < 20) {
    let product = 1;
    for (let i = 2; i <= n; i += 1) product *= i;
    return Math.log(product);
  }
  const x = n + 1;
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

export type Verdict = 'not_worse' | 'worse' | 'undecided';

/**
 * The verdict of a gate: "not worse" if the interval of the difference is above the allowed drop, "worse" if it is below,
 * "undecided" if it contains the drop, or if there is no interval. docs/gate.md says how often that is wrong.
 *
 * @param interval of the run's score minus the baseline's
 * @param maxDrop from 0 to 1
 */
export function verdictOf(interval: Interval | null, maxDrop: number): Verdict {
  if (interval === null) return 'undecided';
  const [low, high] = interval;
  if (low >= -maxDrop) return 'not_worse';
  return high < -maxDrop ? 'worse' : 'undecided';
}

/** The chance that one 95 % interval is wholly on the wrong side. */
const ERROR = 0.025;

/**
 * Widens a 95 % interval to the level at which `count` intervals together err as rarely as one (Bonferroni), so that a gate
 * with many sections raises no more false alarms than a gate with one.
 */
export function widenInterval([low, high]: Interval, difference: number, count: number): Interval {
  if (count === 1) return [low, high];
  const factor = normalQuantile(1 - ERROR / count) / normalQuantile(1 - ERROR);
  return [
    Math.max(-1, difference - factor * (difference - low)),
    Math.min(1, difference + factor * (high - difference)),
  ];
}
