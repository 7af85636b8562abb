import { CONFIDENCE, normalWithin, studentT } from './student-t.ts';

/** A confidence interval. */
export type Interval = readonly [low: number, high: number];

/**
 * How values spread about their mean; the values of one cluster depend on each other. The results of an item are values of
 * one cluster, so that the mean and its error weigh the same values alike.
 */
export interface Spread {
  /** How many values the mean is of. */
  readonly values: number;
  /** Clusters of these values; as many as values if each is on its own. */
  readonly clusters: number;
  /** Sum, over the clusters, of the squared sum of the differences of their values from the mean of all values. */
  readonly squares: number;
}

/** A smaller standard error of scores from 0 to 1 is rounding: sums of equal values need not be equal. */
const LEAST_ERROR = 1e-12;

/**
 * The standard error of the mean of clustered values: sqrt(G / (G - 1) · Σ over clusters (Σ over values (x - mean))²) / n
 * with G clusters and n values. Miller, "Adding Error Bars to Evals" (2024), section 2.2, for few clusters. If each value
 * is a cluster, it is the sample standard deviation over the square root of n.
 *
 * @returns null below two clusters
 */
export function standardError({ values, clusters, squares }: Spread): number | null {
  if (clusters < 2) return null;
  const error = Math.sqrt((clusters / (clusters - 1)) * squares) / values;
  return error < LEAST_ERROR ? 0 : error;
}

/**
 * The interval of a mean by Student's t with one degree of freedom less than there are clusters, cut to its scale.
 *
 * @returns null below two clusters
 */
export function meanInterval(
  mean: number,
  spread: Spread,
  [lowest, highest]: Interval,
  confidence: number = CONFIDENCE,
): Interval | null {
  const stderr = standardError(spread);
  if (stderr === null) return null;
  const half = stderr === 0 ? 0 : studentT(spread.clusters - 1, confidence) * stderr;
  return [Math.max(lowest, mean - half), Math.min(highest, mean + half)];
}

/**
 * Wilson's score interval of a share (Wilson 1927), which never leaves 0 to 1, over the number of results; if they are
 * clustered, over the number of independent results that would have the same standard error.
 *
 * @param share of the results
 * @param spread of the results, 1 for each that counts and 0 for the others
 * @returns null without a result
 */
export function shareInterval(
  share: number,
  spread: Spread,
  confidence: number = CONFIDENCE,
): Interval | null {
  if (spread.values === 0) return null;
  const n = effectiveNumber(share, spread);
  const z = normalWithin(confidence);
  const z2 = z ** 2;
  const center = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n))) / (1 + z2 / n);
  // At the ends of the scale, the bound is exact; rounding must not move it.
  return [share === 0 ? 0 : Math.max(0, center - half), share === 1 ? 1 : Math.min(1, center + half)];
}

function effectiveNumber(share: number, spread: Spread): number {
  if (spread.clusters === spread.values) return spread.values;
  const stderr = standardError(spread);
  const variance = share * (1 - share);
  if (stderr === null || stderr === 0 || variance === 0) return Math.max(1, spread.clusters);
  return Math.min(spread.values, variance / (stderr * stderr));
}
