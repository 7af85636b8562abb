import { JsonlError } from '../errors.ts';
import { describeText } from './describe-text.ts';

/** Significant digits that identify any double (IEEE 754 binary64). */
const DOUBLE_DIGITS = 17;
/** Longest plain decimal that is written: a short literal such as `1e999999999` must not fill the memory. */
const MAX_PLAIN_DIGITS = 1000;

const ZERO = 48;
const NINE = 57;

/**
 * The canonical text of a JSON number literal.
 *
 * RFC 8785 section 3.2.2.3 (the ECMAScript form of the nearest double), unless that form loses digits: an integer
 * literal that differs from its ECMAScript form keeps all its digits; a literal with a fraction or an exponent becomes a
 * plain decimal if it has over 17 significant digits, or if its nearest double is infinite, or zero when the literal is
 * not.
 *
 * @throws JsonlError `invalid_json` if `literal` is not a JSON number (RFC 8259 section 6), `number_too_long` if the
 * plain decimal would have over 1,000 digits
 *
 * @example canonicalNumber('1.0') // '1'
 * @example canonicalNumber('1e21') // '1e+21'
 * @example canonicalNumber('9007199254740993') // '9007199254740993'
 */
export function canonicalNumber(literal: string): string {
  const negative = literal.charCodeAt(0) === 45;
  const integerStart = negative ? 1 : 0;
  const integerEnd = skipDigits(literal, integerStart);
  if (integerEnd === integerStart) throw notANumber(literal);
  if (integerEnd - integerStart > 1 && literal.charCodeAt(integerStart) === ZERO) throw notANumber(literal);

  let position = integerEnd;
  let fraction = '';
  if (literal.charCodeAt(position) === 46) {
    const fractionStart = position + 1;
    position = skipDigits(literal, fractionStart);
    if (position === fractionStart) throw notANumber(literal);
    fraction = literal.slice(fractionStart, position);
  }

  let exponent = 0;
  if ((literal.charCodeAt(position) | 32) === 101) {
    const signed = literal.charCodeAt(position + 1);
    const digitsStart = signed === 43 || signed === 45 ? position + 2 : position + 1;
    const exponentEnd = skipDigits(literal, digitsStart);
    if (exponentEnd === digitsStart) throw notANumber(literal);
    exponent = Number(literal.slice(position + 1, exponentEnd));
    position = exponentEnd;
  }
  if (position !== literal.length) throw notANumber(literal);

  return position === integerEnd
    ? canonicalInteger(literal, literal.slice(integerStart))
    : canonicalDecimal(literal, negative, literal.slice(integerStart, integerEnd), fraction, exponent);
}

/** An integer literal: its ECMAScript form where that is the same number, else the literal. */
function canonicalInteger(literal: string, digits: string): string {
  // String(-0) is '0', and '-0' as a number is zero: RFC 8785 writes it '0'.
  const shortest = String(Number(literal));
  if (digits.length <= 15) return shortest;
  return plainDigits(shortest) === digits ? shortest : literal;
}

/** The digits of an integer's ECMAScript form, without sign and exponent: `1.5e+21` gives 15 and 20 zeros. */
function plainDigits(shortest: string): string {
  const unsigned = shortest.startsWith('-') ? shortest.slice(1) : shortest;
  const exponentAt = unsigned.indexOf('e+');
  if (exponentAt === -1) return unsigned;
  const digits = unsigned.slice(0, exponentAt).replace('.', '');
  return digits.padEnd(Number(unsigned.slice(exponentAt + 2)) + 1, '0');
}

function canonicalDecimal(
  literal: string,
  negative: boolean,
  integer: string,
  fraction: string,
  exponent: number,
): string {
  const digits = integer + fraction;
  let first = 0;
  while (digits.charCodeAt(first) === ZERO) first++;
  if (first === digits.length) return '0';
  let last = digits.length;
  while (digits.charCodeAt(last - 1) === ZERO) last--;
  const significant = digits.slice(first, last);

  const nearest = Number(literal);
  if (significant.length <= DOUBLE_DIGITS && nearest !== 0 && Number.isFinite(nearest))
    return String(nearest);

  // Position of the decimal point, from the first significant digit.
  const point = integer.length - first + exponent;
  const digitCount = point <= 0 ? 1 - point + significant.length : Math.max(point, significant.length);
  if (!(digitCount <= MAX_PLAIN_DIGITS)) {
    throw new JsonlError(
      'number_too_long',
      `The number ${describeText(literal)} has more than ${MAX_PLAIN_DIGITS} digits when written out`,
    );
  }
  const sign = negative ? '-' : '';
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${significant}`;
  if (point >= significant.length) return sign + significant.padEnd(point, '0');
  return `${sign}${significant.slice(0, point)}.${significant.slice(point)}`;
}

function skipDigits(text: string, start: number): number {
  let position = start;
  for (;;) {
    const code = text.charCodeAt(position);
    // Past the end the code is NaN, which is not a digit either.
    if (!(code >= ZERO && code <= NINE)) return position;
    position++;
  }
}

function notANumber(literal: string): JsonlError {
  return new JsonlError('invalid_json', `${describeText(literal)} is not a JSON number`);
}
