import { ASCII } from '../ascii.ts';

/** What a byte does inside a JSON string in UTF-8. Most bytes are `PLAIN`: they are copied as they are. */
export const BYTE_CLASS = {
  PLAIN: 0,
  /** The quote. */
  END: 1,
  /** The backslash. */
  ESCAPE: 2,
  /** Part of a character of several bytes, mostly the first. */
  MULTIBYTE: 3,
  /** A control character, which must be escaped. */
  CONTROL: 4,
} as const;

/** The class of each byte. */
export const BYTE_CLASSES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === ASCII.QUOTE) return BYTE_CLASS.END;
  if (byte === ASCII.BACKSLASH) return BYTE_CLASS.ESCAPE;
  if (byte >= 0x80) return BYTE_CLASS.MULTIBYTE;
  return byte < ASCII.SPACE ? BYTE_CLASS.CONTROL : BYTE_CLASS.PLAIN;
});

/**
 * Whether the eight bytes from `position` on are all plain. Looking at the bytes of a word at once takes two thirds of the
 * time of looking at each. A byte below a subtrahend, or with its highest bit, leaves that bit in the difference; a borrow
 * reaches only bytes above one that is not plain.
 */
export function isPlainPair(words: DataView, position: number): boolean {
  const first = words.getInt32(position, true);
  const second = words.getInt32(position + 4, true);
  const marks =
    first |
    second |
    (first - SPACES) |
    (second - SPACES) |
    ((first ^ QUOTES) - ONES) |
    ((second ^ QUOTES) - ONES) |
    ((first ^ BACKSLASHES) - ONES) |
    ((second ^ BACKSLASHES) - ONES);
  return (marks & HIGHEST_BITS) === 0;
}

/** A byte, in each byte of a word. */
const ONES = 0x01010101;
const SPACES = ASCII.SPACE * ONES;
const QUOTES = ASCII.QUOTE * ONES;
const BACKSLASHES = ASCII.BACKSLASH * ONES;
const HIGHEST_BITS = 0x80 * ONES;
