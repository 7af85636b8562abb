import { damaged, EndOfBytesError } from '../parquet-error.ts';

/** Reads bytes from front to back. It checks every read against the end of `bytes`, and reads no memory after it. */
export class ByteCursor {
  readonly bytes: Uint8Array;
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  get left(): number {
    return this.bytes.length - this.offset;
  }

  fork(offset: number): ByteCursor {
    return new ByteCursor(this.bytes, offset);
  }

  /** The next bytes, in the same memory. @param what names them in the error. @throws EndOfBytesError */
  take(length: number, what: string): Uint8Array {
    const at = this.offset;
    this.skip(length, what);
    return this.bytes.subarray(at, at + length);
  }

  /** Passes over `length` bytes. @throws EndOfBytesError */
  skip(length: number, what: string): void {
    // This form refuses NaN too.
    if (!(length >= 0 && length <= this.left)) throw new EndOfBytesError(what);
    this.offset += length;
  }

  uint8(what: string): number {
    if (this.left < 1) throw new EndOfBytesError(what);
    return this.bytes[this.offset++] as number;
  }

  /** Four bytes, the lowest first. @throws EndOfBytesError */
  uint32(what: string): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.take(4, what);
    return a + b * 0x100 + c * 0x1_0000 + d * 0x100_0000;
  }

  /** An unsigned LEB128 number; beyond 2^53 the nearest. @throws EndOfBytesError, ParquetError beyond ten bytes */
  varint(what: string): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count++, scale *= 128) {
      const byte = this.uint8(what);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw damaged(`${what} has more than 64 bits`);
  }

  /** A signed number in zigzag form; beyond 2^53 the nearest one. @throws as `varint` */
  zigzag(what: string): number {
    const value = this.varint(what);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A signed number of 64 bits in zigzag form, in full. @throws as `varint` */
  zigzag64(what: string): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.uint8(what);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw damaged(`${what} has more than 64 bits`);
  }
}
