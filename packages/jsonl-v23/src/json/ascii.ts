/**
 * Characters of JSON's grammar (RFC 8259), as UTF-16 code units and, being ASCII, UTF-8 bytes.
 *
 * Parsers destructure what they need into constants of their module: V8 folds these, but loads an imported constant
 * again in every iteration of a loop, which costs the parser 4 %.
 */
export const ASCII = {
  TAB: 9,
  LINE_FEED: 10,
  CARRIAGE_RETURN: 13,
  /** The highest white space, and the lowest character that needs no escape in a string. */
  SPACE: 32,
  QUOTE: 34,
  PLUS: 43,
  COMMA: 44,
  MINUS: 45,
  POINT: 46,
  SLASH: 47,
  ZERO: 48,
  NINE: 57,
  COLON: 58,
  OPEN_BRACKET: 91,
  BACKSLASH: 92,
  CLOSE_BRACKET: 93,
  LOWER_A: 97,
  LOWER_D: 100,
  LOWER_E: 101,
  LOWER_F: 102,
  LOWER_N: 110,
  LOWER_T: 116,
  LOWER_U: 117,
  OPEN_BRACE: 123,
  CLOSE_BRACE: 125,
} as const;

export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at += 1) text += String.fromCharCode(bytes[at] as number);
  return text;
}

/** What a byte does inside a JSON string in UTF-8. Most bytes are `PLAIN`, those of other characters than ASCII too: they are copied as they are. */
export const BYTE_CLASS = {
  PLAIN: 0,
  END: 1,
  ESCAPE: 2,
  /** A control character, which must be escaped. */
  CONTROL: 3,
} as const;

export const BYTE_CLASSES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === ASCII.QUOTE) return BYTE_CLASS.END;
  if (byte === ASCII.BACKSLASH) return BYTE_CLASS.ESCAPE;
  return byte < ASCII.SPACE ? BYTE_CLASS.CONTROL : BYTE_CLASS.PLAIN;
});

const { ZERO, NINE, LOWER_A, LOWER_F, LOWER_U, SPACE, QUOTE, BACKSLASH } = ASCII;

/** The code unit of the `\u` escape at `position`; -1 if there is none. */
export function readUnicodeEscape(bytes: Uint8Array, position: number): number {
  const isEscape = bytes[position] === BACKSLASH && bytes[position + 1] === LOWER_U;
  return isEscape ? readHex(bytes, position + 2, 4) : -1;
}

/** The value of hexadecimal digits; -1 for anything else. */
export function readHex(bytes: Uint8Array, start: number, count: number): number {
  let value = 0;
  for (let position = start; position < start + count; position++) {
    const code = bytes[position] as number;
    const lower = code | 32;
    if (code >= ZERO && code <= NINE) value = (value << 4) | (code - ZERO);
    else if (lower >= LOWER_A && lower <= LOWER_F) value = (value << 4) | (lower - LOWER_A + 10);
    else return -1;
  }
  return value;
}

export function putUnit(bytes: Uint8Array, position: number, unit: number): number {
  if (unit < SPACE || unit === QUOTE || unit === BACKSLASH) return putEscape(bytes, position, unit);
  const isSurrogate = (unit & 0xf800) === 0xd800;
  return isSurrogate ? putUnicodeEscape(bytes, position, unit) : putCodePoint(bytes, position, unit);
}

/**
 * Writes the escape of a code unit as RFC 8785 section 3.2.2.2 does, and returns the position after it: the short form
 * if there is one, else lower-case `\u00xx`. Takes at most six bytes.
 */
function putEscape(bytes: Uint8Array, position: number, unit: number): number {
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

function putUnicodeEscape(bytes: Uint8Array, position: number, unit: number): number {
  bytes[position] = BACKSLASH;
  bytes[position + 1] = LOWER_U;
  for (let digit = 0; digit < 4; digit++) {
    const value = (unit >> (12 - 4 * digit)) & 15;
    bytes[position + 2 + digit] = value < 10 ? ZERO + value : LOWER_A - 10 + value;
  }
  return position + 6;
}

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
