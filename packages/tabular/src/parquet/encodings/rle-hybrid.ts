import { damaged } from '../parquet-error.ts';

/** Parquet format, "Run Length Encoding / Bit-Packing Hybrid", without a length in front. */
export class HybridReader {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  #next = 0;
  #left = 0;
  /** The value that a run repeats, or null if its values are packed. */
  #repeated: number | null = null;
  /** Where the packed values of the run begin, and how many of them have been read. */
  #packedAt = 0;
  #packedRead = 0;

  /** @param width bits of a value. @throws ParquetError if that is impossible */
  constructor(bytes: Uint8Array, width: number) {
    if (width > 32) throw damaged(`its values have ${width} bits`);
    this.#bytes = bytes;
    this.#width = width;
  }

  /** Fills `output`, whatever a run claims. @throws ParquetError if the runs end before it is full */
  read(output: Uint8Array | Int32Array): void {
    const size = output.length;
    if (this.#width === 0) {
      // Values of no bits are all zero.
      output.fill(0);
      return;
    }
    for (let filled = 0; filled < size; ) {
      if (this.#left === 0) {
        this.#beginRun();
        continue;
      }
      const count = Math.min(this.#left, size - filled);
      if (this.#repeated === null) this.#unpack(output, filled, count);
      else output.fill(this.#repeated, filled, filled + count);
      this.#left -= count;
      filled += count;
    }
  }

  #beginRun(): void {
    const bytes = this.#bytes;
    let header = 0;
    let at = this.#next;
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length || shift > 28) throw endsEarly();
      const byte = bytes[at++] as number;
      header += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const length = Math.floor(header / 2);
    if (header % 2 === 1) {
      this.#repeated = null;
      this.#left = length * 8;
      this.#packedAt = at;
      this.#packedRead = 0;
      at += length * this.#width;
    } else {
      const valueBytes = (this.#width + 7) >> 3;
      if (at + valueBytes > bytes.length) throw endsEarly();
      let value = 0;
      for (let index = 0; index < valueBytes; index += 1) value |= (bytes[at++] as number) << (8 * index);
      this.#repeated = value;
      this.#left = length;
    }
    this.#next = at;
  }

  /** Values of `width` bits each, the lowest bits first. */
  #unpack(output: Uint8Array | Int32Array, from: number, count: number): void {
    const bytes = this.#bytes;
    const width = this.#width;
    const start = this.#packedAt;
    const first = this.#packedRead;
    // Some writers cut off the padding of the last group.
    if (start + Math.ceil(((first + count) * width) / 8) > bytes.length) throw endsEarly();
    this.#packedRead = first + count;
    const mask = width === 32 ? -1 : (1 << width) - 1;
    let at = start + Math.floor((first * width) / 8);
    let shift = (first * width) % 8;
    for (let index = from; index < from + count; index += 1) {
      let value = (bytes[at] as number) >>> shift;
      let have = 8 - shift;
      while (have < width) {
        value |= (bytes[++at] as number) << have;
        have += 8;
      }
      output[index] = value & mask;
      // `have - width` bits of the byte at `at` are left.
      shift = 8 - (have - width);
      if (shift === 8) {
        shift = 0;
        at += 1;
      }
    }
  }
}

function endsEarly(): Error {
  return damaged('its runs of repeated values end early');
}

export function bitWidth(max: number): number {
  return 32 - Math.clz32(max);
}
