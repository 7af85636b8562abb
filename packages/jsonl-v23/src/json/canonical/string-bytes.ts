import { ASCII } from '../ascii.ts';

/** What a byte does inside a JSON string in UTF-8. Most bytes are `PLAIN`, those of other characters than ASCII too: they are copied as they are. */
export const BYTE_CLASS = {
  PLAIN: 0,
  /** The quote. */
  END: 1,
  /** The backslash. */
  ESCAPE: 2,
  /** A control character, which must be escaped. */
  CONTROL: 3,
} as const;

/** The class of each byte. */
export const BYTE_CLASSES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === ASCII.QUOTE) return BYTE_CLASS.END;
  if (byte === ASCII.BACKSLASH) return BYTE_CLASS.ESCAPE;
  return byte < ASCII.SPACE ? BYTE_CLASS.CONTROL : BYTE_CLASS.PLAIN;
});
