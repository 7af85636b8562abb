/** A part of a buffer. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where the id of an item is in the canonical bytes of an object, from `start` on; null without one. */
export function findItemId(bytes: Uint8Array, start: number): ByteRange | null {
  if (bytes[start] !== OPEN_BRACE || bytes[start + 1] !== QUOTE) return null;
  let at = start + 1;
  for (;;) {
    // Keys are in the order of their UTF-16 code units, the first of which is a byte up to U+007F.
    if ((bytes[at + 1] as number) > LOWER_I) return null;
    const isId = bytes[at + 1] === LOWER_I && bytes[at + 2] === LOWER_D && bytes[at + 3] === QUOTE;
    const valueStart = isId ? at + ID_BYTES : endOfString(bytes, at) + 1;
    const valueEnd = endOfValue(bytes, valueStart);
    if (isId) return { start: valueStart, end: valueEnd };
    if (bytes[valueEnd] !== COMMA) return null;
    at = valueEnd + 1;
  }
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const LOWER_D = 100;
const LOWER_I = 105;
/** `"id":` */
const ID_BYTES = 5;

/** The position after the string that begins at `quote`. */
function endOfString(bytes: Uint8Array, quote: number): number {
  let at = quote;
  for (;;) {
    at = bytes.indexOf(QUOTE, at + 1);
    let before = at - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
}

/** The position after the value that begins at `start`, inside an array or object. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; ; ) {
    const code = bytes[at];
    if (code === QUOTE) at = endOfString(bytes, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      at += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
    } else if (code === COMMA && depth === 0) return at;
    else at += 1;
  }
}
