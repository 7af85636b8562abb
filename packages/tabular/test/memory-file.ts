import type { ByteSource } from '../src/source/byte-source.ts';

/** A file in memory that remembers which ranges were read. */
export function memoryFile(
  bytes: Uint8Array,
  path = 'data.parquet',
): ByteSource & { ranges: Array<[number, number]> } {
  const ranges: Array<[number, number]> = [];
  return {
    path,
    byteLength: bytes.length,
    ranges,
    async readRange(start, end) {
      ranges.push([start, end]);
      return Uint8Array.from(bytes.subarray(start, end));
    },
    async *stream() {
      yield Uint8Array.from(bytes);
    },
  };
}
