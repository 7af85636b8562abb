import { JsonlError } from '../errors.ts';
import { describeText } from './describe.ts';

/** Significant digits that any double keeps: the shortest form of such a literal is the literal's own value. */
const EXACT_DIGITS = 15;
/** Decimal exponents at which a double has full precision (below, it is subnormal; above, infinite). */
const MIN_EXACT_EXPONENT = -292;
const MAX_EXACT_EXPONENT = 292;
/** Digits of the longest plain decimal: a short literal such as `1e999999999` must not fill the memory. */
const MAX_PLAIN_DIGITS = 1000;

/** RFC 8259 section 6: sign, integer, fraction, exponent. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const ZERO = 48;
const NINE = 57;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** The value ± 0.`digits` × 10^`point`; `digits` neither starts nor ends with a zero, and is empty for zero. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  readonly point: number;
}

/**
 * The canonical text of a JSON number literal: the ECMAScript form of the nearest double (RFC 8785 section 3.2.2.3) if
 * it denotes exactly the value of the literal, otherwise that value as a plain decimal.
 *
 * @throws JsonlError `invalid_json` if `literal` is not a JSON number (RFC 8259 section 6), `number_too_long` if the
 * plain decimal would have over 1,000 digits
 *
 * @example canonicalNumber('1.0') // '1'
 * @example canonicalNumber('1e21') // '1e+21'
 * @example canonicalNumber('9007199254740993') // '9007199254740993'
 * @example canonicalNumber('85612521990.439193') // '85612521990.439193'
 */
export function canonicalNumber(literal: string): string {
  const nearest = String(Number(literal));
  // Most literals were written from a double. NaN and Infinity do not end with a digit.
  if (nearest === literal && isDigit(literal.charCodeAt(literal.length - 1))) return nearest;
  const value = readDecimal(literal);
  if (value === null) {
    throw new JsonlError('invalid_json', `${describeText(literal)} is not a JSON number`);
  }
  const { digits, point } = value;
  if (digits === '') return '0';
  if (digits.length <= EXACT_DIGITS && point > MIN_EXACT_EXPONENT && point < MAX_EXACT_EXPONENT)
    return nearest;
  const shortest = readDecimal(nearest);
  if (shortest?.digits === digits && shortest.point === point) return nearest;
  return plainDecimal(value, literal);
}

function readDecimal(literal: string): Decimal | null {
  const match = NUMBER.exec(literal);
  if (match === null) return null;
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = match;
  const all = integer + fraction;
  let first = 0;
  while (all.charCodeAt(first) === ZERO) first += 1;
  let last = all.length;
  while (last > first && all.charCodeAt(last - 1) === ZERO) last -= 1;
  return { sign, digits: all.slice(first, last), point: integer.length - first + Number(exponent) };
}

function plainDecimal({ sign, digits, point }: Decimal, literal: string): string {
  const digitCount = point <= 0 ? 1 - point + digits.length : Math.max(point, digits.length);
  // Not `>`: the exponent of a long literal can be infinite.
  if (!(digitCount <= MAX_PLAIN_DIGITS)) {
    throw new JsonlError(
      'number_too_long',
      `The number ${describeText(literal)} has more than ${MAX_PLAIN_DIGITS} digits when written out`,
    );
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, '0');
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
