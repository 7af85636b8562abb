import { JsonlError } from '../errors.ts';
import { ASCII, asciiText } from './ascii.ts';
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

const { MINUS, PLUS, POINT, ZERO, NINE, LOWER_E } = ASCII;

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

/** Digits that the shortest form of a double may have. */
const SHORTEST_DIGITS = 17;
/** Positions of the point at which a double has full precision. */
const MAX_EXACT_POINT = 290;
/** The shortest form has no exponent if the point is between these positions, counted from the first digit. */
const MAX_PLAIN_POINT = 21;
const MIN_PLAIN_POINT = -5;
const MAX_DIGITS = 64;

/** Whether a literal without exponent certainly is canonical: few digits, and no zero that a fraction does not need. */
function isWritten(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  const hasFewZeros = bytes[first] !== ZERO || bytes[first + 2] !== ZERO;
  return end - first <= MAX_PLAIN_POINT && hasFewZeros && bytes[end - 1] !== ZERO;
}

/** Writes numbers as `canonicalNumber` does, most of them from bytes to bytes. */
export class NumberWriter {
  /** No number is longer: canonical text has at most 1,000 digits, a sign, a point and a zero. */
  static readonly maxBytes = 1024;

  /** Position after the last literal. */
  next = 0;
  /** Significant digits as ASCII, without zeros before and after them. */
  readonly #digits: Uint8Array = new Uint8Array(MAX_DIGITS);

  /** Writes the literal at `start`, valid up to `mantissaEnd`. Returns the position after the text; -1 to fall back. */
  write(bytes: Uint8Array, start: number, mantissaEnd: number, to: number): number {
    const exponent = this.#readExponent(bytes, mantissaEnd);
    if (Number.isNaN(exponent)) return -1;
    if (this.next === mantissaEnd && isWritten(bytes, start, mantissaEnd)) {
      bytes.copyWithin(to, start, mantissaEnd);
      return to + mantissaEnd - start;
    }
    const digits = this.#digits;
    let count = 0;
    /** Zeros that are significant only if another digit follows. */
    let zeros = 0;
    let point = exponent;
    let isFraction = false;
    const isNegative = bytes[start] === MINUS;
    for (let at = isNegative ? start + 1 : start; at < mantissaEnd; at += 1) {
      const code = bytes[at] as number;
      if (code === POINT) {
        isFraction = true;
        continue;
      }
      if (code === ZERO && count === 0) {
        if (isFraction) point -= 1;
        continue;
      }
      if (!isFraction) point += 1;
      if (code === ZERO) {
        zeros += 1;
        continue;
      }
      if (count + zeros >= MAX_DIGITS) return this.#writeByReference(bytes, start, to);
      for (; zeros > 0; zeros -= 1) digits[count++] = ZERO;
      digits[count++] = code;
    }
    if (count === 0) {
      bytes[to] = ZERO;
      return to + 1;
    }
    const isPlain = point >= MIN_PLAIN_POINT && point <= MAX_PLAIN_POINT;
    const isExact = count <= EXACT_DIGITS && Math.abs(point) <= MAX_EXACT_POINT;
    let end = to;
    if (isNegative) bytes[end++] = MINUS;
    if (isPlain) return this.#putPlain(bytes, end, count, point);
    if (count <= SHORTEST_DIGITS) {
      const shortestEnd = this.#putExponent(bytes, end, count, point);
      if (isExact) return shortestEnd;
      const text = asciiText(bytes, to, shortestEnd);
      if (String(Number(text)) === text) return shortestEnd;
    }
    // No double has this value, so it is written out.
    const digitCount = point <= 0 ? 1 - point + count : Math.max(point, count);
    return digitCount <= MAX_PLAIN_DIGITS ? this.#putPlain(bytes, end, count, point) : -1;
  }

  /** The exponent at `at`, 0 if there is none; NaN if it is invalid. It may be huge. Sets `next`. */
  #readExponent(bytes: Uint8Array, at: number): number {
    let position = at;
    this.next = at;
    if (((bytes[position] as number) | 32) !== LOWER_E) return 0;
    position += 1;
    const isNegative = bytes[position] === MINUS;
    if (isNegative || bytes[position] === PLUS) position += 1;
    const first = position;
    let value = 0;
    // A line feed follows.
    for (; (bytes[position] as number) >= ZERO && (bytes[position] as number) <= NINE; position += 1) {
      value = value * 10 + (bytes[position] as number) - ZERO;
    }
    if (position === first) return Number.NaN;
    this.next = position;
    return isNegative ? -value : value;
  }

  #putPlain(bytes: Uint8Array, start: number, count: number, point: number): number {
    const digits = this.#digits;
    let to = start;
    if (point <= 0) {
      bytes[to++] = ZERO;
      bytes[to++] = POINT;
      for (let zero = point; zero < 0; zero += 1) bytes[to++] = ZERO;
    }
    for (let index = 0; index < count; index += 1) {
      if (index === point && index > 0) bytes[to++] = POINT;
      bytes[to++] = digits[index] as number;
    }
    for (let index = count; index < point; index += 1) bytes[to++] = ZERO;
    return to;
  }

  #putExponent(bytes: Uint8Array, start: number, count: number, point: number): number {
    const digits = this.#digits;
    let to = start;
    bytes[to++] = digits[0] as number;
    if (count > 1) bytes[to++] = POINT;
    for (let index = 1; index < count; index += 1) bytes[to++] = digits[index] as number;
    bytes[to++] = LOWER_E;
    const exponent = String(Math.abs(point - 1));
    bytes[to++] = point > 0 ? PLUS : MINUS;
    for (let index = 0; index < exponent.length; index += 1) bytes[to++] = exponent.charCodeAt(index);
    return to;
  }

  #writeByReference(bytes: Uint8Array, start: number, to: number): number {
    let text: string;
    try {
      text = canonicalNumber(asciiText(bytes, start, this.next));
    } catch (error) {
      if (error instanceof JsonlError) return -1;
      throw error;
    }
    let end = to;
    for (let at = 0; at < text.length; at += 1) bytes[end++] = text.charCodeAt(at);
    return end;
  }
}
