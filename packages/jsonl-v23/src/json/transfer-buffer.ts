/**
 * Moves the bytes of a buffer to one of another size. The old buffer is detached, which frees its memory immediately: the next
 * garbage collection may be far away. Node 20 cannot detach; it copies.
 */
export function transferBuffer(buffer: ArrayBuffer, byteLength: number): ArrayBuffer {
  const { transfer } = buffer as { transfer?: (this: ArrayBuffer, byteLength: number) => ArrayBuffer };
  if (transfer !== undefined) return transfer.call(buffer, byteLength);
  const moved = new ArrayBuffer(byteLength);
  new Uint8Array(moved).set(new Uint8Array(buffer, 0, Math.min(byteLength, buffer.byteLength)));
  return moved;
}
