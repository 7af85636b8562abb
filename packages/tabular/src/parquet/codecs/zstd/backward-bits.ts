/** Reads bits from the end of some bytes to their beginning (RFC 8878, 4.1 and 4.2.2); there are zeros before them. */
export class BackwardBits {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  /** Bits that have not been read; negative after reading beyond the beginning. */
  left: number;

  /** @throws RangeError without the bit that ends the stream */
  constructor(bytes: Uint8Array, start: number, end: number) {
    const last = end > start && end <= bytes.length ? (bytes[end - 1] as number) : 0;
    if (last === 0) throw new RangeError('zstd bit stream has no end');
    this.#bytes = bytes;
    this.#start = start;
    this.left = (end - start) * 8 - Math.clz32(last) + 23;
  }

  /** The next bits, at most 24, which stay unread. */
  peek(count: number): number {
    const at = this.left - count;
    if (at < 0) return count + at <= 0 ? 0 : (this.#bits(0) << -at) & ((1 << count) - 1);
    return (this.#bits(at) >>> 0) & ((1 << count) - 1);
  }

  /** Reads bits, at most 32, as a number. */
  read(count: number): number {
    if (count > 24) return this.read(count - 16) * 0x10000 + this.read(16);
    const value = this.peek(count);
    this.left -= count;
    return value;
  }

  /** At least 24 bits from a position on. */
  #bits(at: number): number {
    const bytes = this.#bytes;
    const byte = this.#start + (at >> 3);
    const low =
      (bytes[byte] as number) | ((bytes[byte + 1] as number) << 8) | ((bytes[byte + 2] as number) << 16);
    return (low | ((bytes[byte + 3] as number) << 24)) >>> (at & 7);
  }
}
