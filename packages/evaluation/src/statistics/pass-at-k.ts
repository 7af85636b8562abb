/** Items with equally many tries and passes. */
export interface PassCount {
  /** Results of the item that should have been scored. */
  readonly tries: number;
  readonly passed: number;
  /** How many items have these counts. */
  readonly items: number;
}

/**
 * The unbiased estimator of pass@k (Chen et al., "Evaluating Large Language Models Trained on Code", 2021, section 2.1):
 * the mean over items of the chance that at least one of k of their n tries passes, 1 - C(n - c, k) / C(n, k).
 *
 * @param maxK the repetitions of the run
 * @returns by k from 1; only those for which some item has as many tries
 */
export function passAtK(counts: readonly PassCount[], maxK: number): Readonly<Record<string, number>> {
  const result: Record<string, number> = {};
  for (let k = 1; k <= maxK; k += 1) {
    let sum = 0;
    let items = 0;
    for (const count of counts) {
      if (count.tries < k) continue;
      sum += count.items * chance(count.tries, count.passed, k);
      items += count.items;
    }
    if (items > 0) result[k] = sum / items;
  }
  return result;
}

/** As a product, since the binomial coefficients would overflow. */
function chance(tries: number, passed: number, k: number): number {
  if (tries - passed < k) return 1;
  let fails = 1;
  for (let i = tries - passed + 1; i <= tries; i += 1) fails *= 1 - k / i;
  return 1 - fails;
}
