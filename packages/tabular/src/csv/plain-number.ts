const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
/** Decimal digits that every double keeps. */
const SAFE_DIGITS = 15;
/** ECMAScript writes smaller numbers with an exponent. */
const MAX_LEADING_ZEROS = 5;

/** What a range is if it is a short number written as its canonical JSON text, as nearly all numbers are; else null. */
export function plainNumberKind(bytes: Uint8Array, start: number, end: number): 'int' | 'float' | null {
  const whole = bytes[start] === MINUS ? start + 1 : start;
  const point = digitsEnd(bytes, whole, end);
  const startsWithZero = bytes[whole] === ZERO;
  if (point === whole || (startsWithZero && point > whole + 1)) return null;
  if (point === end) {
    const isNegativeZero = startsWithZero && whole > start;
    return point - whole <= SAFE_DIGITS && !isNegativeZero ? 'int' : null;
  }
  const fraction = point + 1;
  if (bytes[point] !== POINT || fraction === end || end - 1 - whole > SAFE_DIGITS) return null;
  if (digitsEnd(bytes, fraction, end) < end || bytes[end - 1] === ZERO) return null;
  let zeros = 0;
  while (startsWithZero && bytes[fraction + zeros] === ZERO) zeros += 1;
  return zeros <= MAX_LEADING_ZEROS ? 'float' : null;
}

function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at += 1;
  return at;
}
