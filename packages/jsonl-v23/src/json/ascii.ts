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
