import { type Interval, meanInterval, type Spread, standardError } from './intervals.ts';
import { mcnemar } from './mcnemar.ts';
import { CONFIDENCE } from './student-t.ts';

/** Counts and sums over the items that two runs share. */
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

/** How two runs compare, as the API shows it. */
export interface ComparedScores {
  readonly paired: number;
  readonly mean: number | null;
  readonly other_mean: number | null;
  /** Other minus this. */
  readonly mean_difference: number | null;
  readonly stderr: number | null;
  readonly ci95: Interval | null;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** McNemar's exact test over the pairs that have passed or failed in both runs; null without one. */
  readonly p_value: number | null;
  /** Set only if there are too few pairs, whatever the interval; else the interval says how the runs differ. */
  readonly verdict?: 'undecided';
}

const SCALE: Interval = [-1, 1];

/**
 * Fewer pairs, or clusters of them, decide nothing: the interval of two that differ alike by chance has no width. Between
 * runs of one model that passes half the time, this happens in 1 comparison of 8, and with three pairs in 1 of 32.
 */
const MIN_CLUSTERS = 3;

/** Paired by item, so that the difficulty of an item, which both runs share, does not count as uncertainty. */
export function compareScores(sums: PairSums, confidence: number = CONFIDENCE): ComparedScores {
  const { paired, decided, wins, losses, ties, meanDifference, spread } = sums;
  return {
    paired,
    mean: sums.mean,
    other_mean: sums.otherMean,
    mean_difference: meanDifference,
    stderr: standardError(spread),
    ci95: meanDifference === null ? null : meanInterval(meanDifference, spread, SCALE, confidence),
    wins,
    losses,
    ties,
    p_value: decided === 0 ? null : mcnemar(sums.onlyThisPassed, sums.onlyOtherPassed),
    ...(spread.clusters < MIN_CLUSTERS && { verdict: 'undecided' }),
  };
}
