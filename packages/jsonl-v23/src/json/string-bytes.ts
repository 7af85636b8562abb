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

/** Whether the four bytes from `position` on all stand for themselves: four at a time are read faster. */
export function isPlain4(bytes: Uint8Array, position: number): boolean {
  return (
    ((STRING_BYTES[bytes[position] as number] as number) |
      (STRING_BYTES[bytes[position + 1] as number] as number) |
      (STRING_BYTES[bytes[position + 2] as number] as number) |
      (STRING_BYTES[bytes[position + 3] as number] as number)) ===
    0
  );
}
