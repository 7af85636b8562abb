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
