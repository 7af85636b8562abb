export type Interval = readonly [low: number, high: number];

/**
 * How values spread about their mean; the values of one cluster depend on each other. The results of an item are values of
 * one cluster, so that the mean and its error weigh the same values alike.
 */
export interface Spread {
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

/** The confidence of every interval that states no other. */
export const CONFIDENCE = 0.95;

/** The 97.5 % quantile of the normal distribution. */
export const NORMAL_975 = 1.959963984540054;

/** Half the width of a normal interval in standard errors. */
const normalWithin = (confidence: number): number =>
  confidence === CONFIDENCE ? NORMAL_975 : normalQuantile((1 + confidence) / 2);

/** From this number of degrees of freedom on, the asymptotic series has an error below 1e-9. */
const MIN_ASYMPTOTIC = 100;

/**
 * A quantile of Student's t distribution: half the width of an interval in standard errors. Abramowitz and Stegun,
 * "Handbook of Mathematical Functions" (1964): the asymptotic series 26.7.5; for few degrees of freedom the root of the
 * finite series 26.7.3 and 26.7.4.
 */
export function studentT(freedom: number, confidence: number = CONFIDENCE): number {
  if (freedom >= MIN_ASYMPTOTIC) return asymptotic(freedom, normalWithin(confidence));
  // The chance of |t| < sqrt(freedom) tan(angle) grows with the angle.
  let low = 0;
  let high = Math.PI / 2;
  for (let middle = high / 2; middle > low && middle < high; middle = (low + high) / 2) {
    if (chanceWithin(middle, freedom) < confidence) low = middle;
    else high = middle;
  }
  return Math.sqrt(freedom) * Math.tan(low);
}

/** 26.7.3 for odd, 26.7.4 for even degrees of freedom. */
function chanceWithin(angle: number, freedom: number): number {
  const cosine = Math.cos(angle);
  const isOdd = freedom % 2 === 1;
  let sum = 0;
  let term = isOdd ? cosine : 1;
  for (let k = isOdd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= (cosine * cosine * (k - 1)) / k;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** 26.7.5. */
function asymptotic(freedom: number, x: number): number {
  const x2 = x * x;
  const g1 = (x * (x2 + 1)) / 4;
  const g2 = (x * (5 * x2 ** 2 + 16 * x2 + 3)) / 96;
  const g3 = (x * (3 * x2 ** 3 + 19 * x2 ** 2 + 17 * x2 - 15)) / 384;
  const g4 = (x * (79 * x2 ** 4 + 776 * x2 ** 3 + 1482 * x2 ** 2 - 1920 * x2 - 945)) / 92_160;
  return x + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

const FARTHEST = 9;

/**
 * The quantile of the normal distribution: the root of its series, Abramowitz and Stegun, "Handbook of Mathematical
 * Functions" (1964), 26.2.11.
 *
 * @param chance more than 0, less than 1
 */
export function normalQuantile(chance: number): number {
  if (chance < 0.5) return -normalQuantile(1 - chance);
  let low = 0;
  let high = FARTHEST;
  for (let middle = high / 2; middle > low && middle < high; middle = (low + high) / 2) {
    if (chanceBelow(middle) < chance) low = middle;
    else high = middle;
  }
  return low;
}

function chanceBelow(x: number): number {
  let sum = 0;
  let term = x;
  for (let n = 3; sum + term !== sum; n += 2) {
    sum += term;
    term *= (x * x) / n;
  }
  return 0.5 + (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}
