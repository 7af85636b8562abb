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

const classes = BYTE_CLASSES;

/** Whether the four bytes from `position` on are all plain. Four at a time are faster than one. */
export function isPlainWord(bytes: Uint8Array, position: number): boolean {
  return (
    ((classes[bytes[position] as number] as number) |
      (classes[bytes[position + 1] as number] as number) |
      (classes[bytes[position + 2] as number] as number) |
      (classes[bytes[position + 3] as number] as number)) ===
    0
  );
}
