import { ASCII } from '../ascii.ts';

const { QUOTE, BACKSLASH, ZERO, LOWER_A, LOWER_U } = ASCII;

/**
 * Writes the escape of a code unit as RFC 8785 section 3.2.2.2 does, and returns the position after it: the short form
 * if there is one, else lower-case `\u00xx`. Takes at most six bytes.
 */
export function putEscape(bytes: Uint8Array, position: number, unit: number): number {
  const letter = shortEscape(unit);
  if (letter === 0) return putUnicodeEscape(bytes, position, unit);
  bytes[position] = BACKSLASH;
  bytes[position + 1] = letter;
  return position + 2;
}

/** The letter after the backslash of a short escape; 0 if the code unit has none. */
function shortEscape(unit: number): number {
  switch (unit) {
    case 10:
      return 110; // n
    case QUOTE:
    case BACKSLASH:
      return unit;
    case 9:
      return 116; // t
    case 13:
      return 114; // r
    case 8:
      return 98; // b
    case 12:
      return 102; // f
    default:
      return 0;
  }
}

/** Writes `\uxxxx` with lower-case digits, and returns the position after it. */
export function putUnicodeEscape(bytes: Uint8Array, position: number, unit: number): number {
  bytes[position] = BACKSLASH;
  bytes[position + 1] = LOWER_U;
  for (let digit = 0; digit < 4; digit++) {
    const value = (unit >> (12 - 4 * digit)) & 15;
    bytes[position + 2 + digit] = value < 10 ? ZERO + value : LOWER_A - 10 + value;
  }
  return position + 6;
}

/** Writes a code point in UTF-8, and returns the position after it. */
export function putCodePoint(bytes: Uint8Array, position: number, point: number): number {
  let to = position;
  if (point < 0x80) bytes[to++] = point;
  else {
    if (point < 0x800) bytes[to++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[to++] = 0xe0 | (point >> 12);
      else {
        bytes[to++] = 0xf0 | (point >> 18);
        bytes[to++] = 0x80 | ((point >> 12) & 63);
      }
      bytes[to++] = 0x80 | ((point >> 6) & 63);
    }
    bytes[to++] = 0x80 | (point & 63);
  }
  return to;
}
