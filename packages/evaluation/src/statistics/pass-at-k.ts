/** Items with equally many tries and passes. */
export interface PassCount {
  /** Results of the item that have passed or failed, and failed requests. */
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
 * @returns by k from 1, up to the most tries of an item
 */
export function passAtK(counts: readonly PassCount[], maxK: number): Readonly<Record<string, number>> {
  return byK(counts, maxK, ({ tries, passed }, k) => 1 - chanceOfAll(tries, tries - passed, k));
}

/**
 * The unbiased estimator of pass^k (Yao et al., "τ-bench", 2024, section 3): the mean over items of the chance that all of
 * k of their n tries pass, C(c, k) / C(n, k).
 *
 * @param maxK the repetitions of the run
 * @returns by k as {@link passAtK}
 */
export function passHatK(counts: readonly PassCount[], maxK: number): Readonly<Record<string, number>> {
  return byK(counts, maxK, ({ tries, passed }, k) => chanceOfAll(tries, passed, k));
}

function byK(
  counts: readonly PassCount[],
  maxK: number,
  chance: (count: PassCount, k: number) => number,
): Readonly<Record<string, number>> {
  const result: Record<string, number> = {};
  for (let k = 1; k <= maxK; k += 1) {
    let sum = 0;
    let items = 0;
    for (const count of counts) {
      if (count.tries < k) continue;
      sum += count.items * chance(count, k);
      items += count.items;
    }
    if (items > 0) result[k] = sum / items;
  }
  return result;
}

/** The chance that k of n tries are all among the `chosen`. It is a product, since the binomial coefficients overflow. */
function chanceOfAll(tries: number, chosen: number, k: number): number {
  if (chosen < k) return 0;
  let chance = 1;
  for (let i = chosen + 1; i <= tries; i += 1) chance *= 1 - k / i;
  return chance;
}
