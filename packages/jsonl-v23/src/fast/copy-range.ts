/** Shorter pieces are copied faster by a loop than by a call. */
const SHORT_BYTES = 16;

/** Copies a range of a buffer to `to`, and gives the position behind the copy. */
export function copyRange(bytes: Uint8Array, to: number, start: number, end: number): number {
  if (end - start > SHORT_BYTES) {
    bytes.copyWithin(to, start, end);
    return to + end - start;
  }
  let position = to;
  for (let from = start; from < end; from++) bytes[position++] = bytes[from] as number;
  return position;
}
