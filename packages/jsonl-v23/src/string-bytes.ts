/** What the bytes of a string are: 0 stands for themselves, as most do. */
export const ENDS = 1;
export const ESCAPES = 2;
export const LEADS = 3;
export const REFUSED = 4;
export const STRING_BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x22) return ENDS;
  if (byte === 0x5c) return ESCAPES;
  if (byte >= 0x80) return LEADS;
  return byte < 0x20 ? REFUSED : 0;
});
