import type { ByteSource } from '../src/source/byte-source.ts';

const MARGIN_BYTES = 4096;

/** Fills the memory around the next allocations with a byte, as far as possible. */
function poison(byte: number): void {
  // Freed memory is reused as it is.
  for (const size of [100, 1000, 3000, 5000, 20_000, 70_000]) Buffer.allocUnsafeSlow(size).fill(byte);
  // The rest of the buffer that small ones share, and the bytes before it.
  for (let count = 0; count < 3; count++) Buffer.allocUnsafe(200).fill(byte);
  const last = Buffer.allocUnsafe(1);
  new Uint8Array(last.buffer, last.byteOffset).fill(byte);
}

/** A file in memory; the bytes around every range of it repeat one byte. */
export function fileAmongNeighbours(bytes: Uint8Array, byte: number): ByteSource {
  return {
    path: 'train.parquet',
    byteLength: bytes.length,
    async readRange(start, end) {
      const memory = new Uint8Array(end - start + 2 * MARGIN_BYTES).fill(byte);
      memory.set(bytes.subarray(start, end), MARGIN_BYTES);
      poison(byte);
      return memory.subarray(MARGIN_BYTES, MARGIN_BYTES + end - start);
    },
    async *stream() {
      yield bytes;
    },
  };
}
