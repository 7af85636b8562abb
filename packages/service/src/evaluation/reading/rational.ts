/** An exact fraction; the denominator is positive. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export const rational = (numerator: bigint, denominator = 1n): Rational =>
  denominator < 0n ? { numerator: -numerator, denominator: -denominator } : { numerator, denominator };

export const plus = (a: Rational, b: Rational): Rational =>
  rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);

export const times = (a: Rational, b: Rational): Rational =>
  rational(a.numerator * b.numerator, a.denominator * b.denominator);

export const powerOfTen = (exponent: number): Rational =>
  exponent < 0 ? rational(1n, 10n ** BigInt(-exponent)) : rational(10n ** BigInt(exponent));

/** A decimal number. @param digits with an optional decimal point, without sign */
export function fromDecimal(digits: string): Rational {
  const [whole = '', fraction = ''] = digits.split('.');
  return rational(BigInt(`${whole}${fraction}` || '0'), 10n ** BigInt(fraction.length));
}

export function isWithin(a: Rational, b: Rational, limit: Rational): boolean {
  const distance = a.numerator * b.denominator - b.numerator * a.denominator;
  const size = distance < 0n ? -distance : distance;
  return size * limit.denominator <= limit.numerator * a.denominator * b.denominator;
}

export const absolute = ({ numerator, denominator }: Rational): Rational =>
  rational(numerator < 0n ? -numerator : numerator, denominator);

const MAX_SHOWN_DIGITS = 40;

/** The number as people write it: decimals where they end, else a fraction. */
export function showRational({ numerator, denominator }: Rational): string {
  const divisor = greatestDivisor(numerator < 0n ? -numerator : numerator, denominator);
  const [top, bottom] = [numerator / divisor, denominator / divisor];
  let rest = bottom;
  let places = 0;
  let scaled = top;
  while (rest % 10n === 0n) [rest, places] = [rest / 10n, places + 1];
  for (; rest % 2n === 0n && places < MAX_SHOWN_DIGITS; places += 1)
    [rest, scaled] = [rest / 2n, scaled * 5n];
  for (; rest % 5n === 0n && places < MAX_SHOWN_DIGITS; places += 1)
    [rest, scaled] = [rest / 5n, scaled * 2n];
  if (rest !== 1n) return cut(`${top}/${bottom}`);
  const sign = scaled < 0n ? '-' : '';
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  return cut(`${sign}${whole}${places === 0 ? '' : `.${digits.slice(-places)}`}`);
}

const cut = (text: string): string =>
  text.length > 2 * MAX_SHOWN_DIGITS ? `${text.slice(0, 2 * MAX_SHOWN_DIGITS)}…` : text;

/** Euclid's, which is slow for thousands of digits: such numbers are shown as they are. */
function greatestDivisor(a: bigint, b: bigint): bigint {
  if (a > 10n ** 400n || b > 10n ** 400n) return 1n;
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}
