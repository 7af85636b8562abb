const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LOWER_E = 101;
/** Every integer with this many digits fits 64 bits. */
const MAX_INT_DIGITS = 18;
/** A number of this length has fewer digits than a number may have. */
const MAX_NUMBER_BYTES = 64;
/** A number with a longer exponent may be too long to write out. */
const MAX_EXPONENT_DIGITS = 2;
/** ECMAScript writes smaller numbers with an exponent. */
const MAX_LEADING_ZEROS = 5;

/** The kind of a field that is a number as most files have them, int64 or float64; null for any other field. */
export type NumberKind = 'int' | 'float' | null;

/** The kind of a number that is written as its canonical JSON text, without an exponent. */
export function plainNumberKind(bytes: Uint8Array, start: number, end: number): NumberKind {
  const whole = bytes[start] === MINUS ? start + 1 : start;
  const startsWithZero = bytes[whole] === ZERO;
  const kind = numberKind(bytes, start, end);
  if (kind === null) return null;
  if (kind === 'int') return startsWithZero && end > start + 1 ? null : 'int';
  const point = digitsEnd(bytes, whole, end);
  const fraction = point + 1;
  if (bytes[point] !== POINT || bytes[end - 1] === ZERO || digitsEnd(bytes, fraction, end) < end) return null;
  let zeros = 0;
  while (startsWithZero && bytes[fraction + zeros] === ZERO) zeros += 1;
  return zeros <= MAX_LEADING_ZEROS ? 'float' : null;
}

/** The kind of a number that is written as in JSON, whatever its canonical text. */
export function numberKind(bytes: Uint8Array, start: number, end: number): NumberKind {
  const last = mantissaEnd(bytes, start, end);
  if (last === -1 || end - start > MAX_NUMBER_BYTES) return null;
  const whole = bytes[start] === MINUS ? start + 1 : start;
  const point = digitsEnd(bytes, whole, last);
  if (point - whole > MAX_INT_DIGITS) return null;
  if (last === end) return point === end ? 'int' : 'float';
  if (((bytes[last] as number) | 32) !== LOWER_E) return null;
  const sign = bytes[last + 1];
  const exponent = sign === MINUS || sign === PLUS ? last + 2 : last + 1;
  return end - exponent <= MAX_EXPONENT_DIGITS && exponent < end && digitsEnd(bytes, exponent, end) === end
    ? 'float'
    : null;
}

const TRUE = [116, 114, 117, 101];
const FALSE = [102, 97, 108, 115, 101];

/** Whether a field spells a truth value, in any case. */
export function isTruth(bytes: Uint8Array, start: number, end: number): boolean {
  const word = end - start === TRUE.length ? TRUE : FALSE;
  if (end - start !== word.length) return false;
  let at = 0;
  while (at < word.length && ((bytes[start + at] as number) | 32) === word[at]) at += 1;
  return at === word.length;
}

/** Position after the sign, integer and fraction of the JSON number at `start`; -1 if there is none. */
function mantissaEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start;
  const point = digitsEnd(bytes, first, end);
  if (point === first || (bytes[first] === ZERO && point > first + 1)) return -1;
  if (point === end || bytes[point] !== POINT) return point;
  const last = digitsEnd(bytes, point + 1, end);
  return last === point + 1 ? -1 : last;
}

function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at += 1;
  return at;
}
