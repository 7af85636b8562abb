/**
 * Moves the bytes of a buffer to one of another size. The old buffer is detached, which frees its memory immediately:
 * the next garbage collection may be far away. Node 20 cannot detach; it copies.
 */
export function transferBuffer(buffer: ArrayBuffer, byteLength: number): ArrayBuffer {
  const { transfer } = buffer as { transfer?: (this: ArrayBuffer, byteLength: number) => ArrayBuffer };
  if (transfer !== undefined) return transfer.call(buffer, byteLength);
  const moved = new ArrayBuffer(byteLength);
  new Uint8Array(moved).set(new Uint8Array(buffer, 0, Math.min(byteLength, buffer.byteLength)));
  return moved;
}

const LARGE_BUFFER_BYTES = 8 * 1024 * 1024;

/**
 * The size to which a full buffer grows: twice its own, up to `longest`. A large buffer grows to `longest` in one step,
 * because each step holds the content twice, and the system only provides memory that is written to.
 */
export function grownSize(byteLength: number, longest: number): number {
  const doubled = 2 * byteLength;
  return doubled > LARGE_BUFFER_BYTES ? longest : Math.min(doubled, longest);
}
