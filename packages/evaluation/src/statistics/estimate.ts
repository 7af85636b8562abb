/** A mean with its uncertainty. */
export interface Estimate {
  /** Null without a value. */
  readonly mean: number | null;
  /** Standard error of the mean; null below two items. */
  readonly stderr: number | null;
  /** 95 % confidence interval: the mean plus and minus 1.96 standard errors; null as `stderr`. */
  readonly ci95: readonly [number, number] | null;
}

/** The 97.5 % quantile of the normal distribution, as usually rounded. */
const Z = 1.96;

/**
 * Estimates a mean whose values are clustered by item: the repetitions of one item say less than as many items. Miller,
 * "Adding Error Bars to Evals" (2024), section 2.2, for clusters of about equal size: the standard error is the sample
 * standard deviation of the item means over the square root of the number of items.
 *
 * @param mean of all values
 * @param items with at least one value
 * @param deviation sample standard deviation (n - 1) of the item means; null below two items
 */
export function estimateMean(mean: number | null, items: number, deviation: number | null): Estimate {
  if (mean === null || deviation === null || items < 2) return { mean, stderr: null, ci95: null };
  const stderr = deviation / Math.sqrt(items);
  return { mean, stderr, ci95: [mean - Z * stderr, mean + Z * stderr] };
}
