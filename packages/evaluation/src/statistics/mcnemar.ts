/**
 * McNemar's exact test for paired outcomes that pass or fail: the probability, if both runs pass with equal chance, of
 * a split at least as uneven as the one found.
 *
 * @param onlyFirst pairs that only the first passed
 * @param onlySecond pairs that only the second passed
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
