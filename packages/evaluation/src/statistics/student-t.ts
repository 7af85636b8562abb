/** The confidence of every interval that states no other. */
export const CONFIDENCE = 0.95;

/** The 97.5 % quantile of the normal distribution. */
export const NORMAL_975 = 1.959963984540054;

/** Half the width of a normal interval in standard errors. */
export const normalWithin = (confidence: number): number =>
  confidence === CONFIDENCE ? NORMAL_975 : normalQuantile((1 + confidence) / 2);

/** From this number of degrees of freedom on, the asymptotic series has an error below 1e-9. */
const MIN_ASYMPTOTIC = 100;

/**
 * A quantile of Student's t distribution: half the width of an interval in standard errors. Abramowitz and Stegun,
 * "Handbook of Mathematical Functions" (1964): the asymptotic series 26.7.5; for few degrees of freedom the root of the
 * finite series 26.7.3 and 26.7.4.
 *
 * @param freedom degrees of freedom, a positive integer
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
