import type { ValueReader } from '../cells/convert.ts';
import type { ByteCursor } from '../metadata/byte-cursor.ts';
import { damaged, EndOfBytesError, unsupported } from '../parquet-error.ts';

const DELTAS = 'a difference of values';
/** Writers use 32 to 256. */
const MAX_MINIBLOCKS = 4096;

/** @throws ParquetError if the header is impossible */
function readHeader(cursor: ByteCursor): { miniblocks: number; valuesPerMiniblock: number; total: number } {
  const blockSize = cursor.varint(DELTAS);
  const miniblocks = cursor.varint(DELTAS);
  const total = cursor.varint(DELTAS);
  const valuesPerMiniblock = blockSize / miniblocks;
  // The format requires a multiple of 32; miniblocks must end at whole bytes.
  const isWhole = valuesPerMiniblock >= 8 && valuesPerMiniblock % 8 === 0;
  if (!(miniblocks >= 1 && miniblocks <= MAX_MINIBLOCKS && isWhole)) {
    throw damaged('its blocks of differences have an impossible size');
  }
  return { miniblocks, valuesPerMiniblock, total };
}

function widthAt(bytes: Uint8Array, offset: number): number {
  const width = bytes[offset] ?? 0;
  if (width > 64) throw damaged(`its differences have ${width} bits`);
  return width;
}

function readHalves(cursor: ByteCursor): [low: number, high: number] {
  const value = cursor.zigzag64(DELTAS);
  return [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
}

/** DELTA_BINARY_PACKED (Parquet format, "Delta Encoding"). Sums wrap around at the width of the type. */
class DeltaReader {
  readonly #cursor: ByteCursor;
  readonly #miniblocks: number;
  readonly #valuesPerMiniblock: number;
  readonly total: number;
  /** Halves of the last value: all arithmetic has 32 bits, which is several times as fast as bigints. */
  #low: number;
  #high: number;
  #hasFirst = false;
  #minLow = 0;
  #minHigh = 0;
  /** Offset of the widths of the current block's miniblocks, and the next miniblock. */
  #widthsAt = 0;
  #miniblock: number;
  #width = 0;
  #bit = 0;
  #bodyAt = 0;
  #left = 0;

  constructor(cursor: ByteCursor) {
    this.#cursor = cursor;
    const { miniblocks, valuesPerMiniblock, total } = readHeader(cursor);
    this.total = total;
    this.#miniblocks = miniblocks;
    this.#miniblock = miniblocks;
    this.#valuesPerMiniblock = valuesPerMiniblock;
    [this.#low, this.#high] = readHalves(cursor);
  }

  read(output: Int32Array | BigInt64Array): void {
    const step = output instanceof Int32Array ? 1 : 2;
    const words = step === 1 ? (output as Int32Array) : wordsOf(output as BigInt64Array);
    const { bytes } = this.#cursor;
    const end = output.length * step;
    let at = 0;
    if (!this.#hasFirst && end > 0) {
      this.#hasFirst = true;
      words[at] = this.#low;
      if (step === 2) words[at + 1] = this.#high;
      at += step;
    }
    while (at < end) {
      if (this.#left === 0) {
        this.#beginMiniblock();
        continue;
      }
      const count = Math.min(this.#left, (end - at) / step);
      const width = this.#width;
      const bodyAt = this.#bodyAt;
      let bit = this.#bit;
      if (bodyAt + Math.ceil((bit + count * width) / 8) > bytes.length) throw new EndOfBytesError(DELTAS);
      let low = this.#low;
      let high = this.#high;
      const minLow = this.#minLow;
      const minHigh = this.#minHigh;
      for (let index = 0; index < count; index += 1, bit += width) {
        const restLow = width === 0 ? 0 : bitsAt(bytes, bodyAt, bit, Math.min(width, 32));
        if (step === 1) {
          low = (low + minLow + restLow) | 0;
          words[at++] = low;
        } else {
          const restHigh = width > 32 ? bitsAt(bytes, bodyAt, bit + 32, width - 32) : 0;
          const sum = (low >>> 0) + (minLow >>> 0) + (restLow >>> 0);
          low = sum | 0;
          high = (high + minHigh + restHigh + Math.floor(sum / 0x1_0000_0000)) | 0;
          words[at++] = low;
          words[at++] = high;
        }
      }
      this.#low = low;
      this.#high = high;
      this.#bit = bit;
      this.#left -= count;
    }
  }

  /** Moves the cursor after all values of the header; none can be read any more. @throws ParquetError */
  skipToEnd(): void {
    const cursor = this.#cursor;
    // Only before the first read: the cursor is after the header.
    for (let left = this.total - 1; left > 0; ) {
      this.#beginBlock();
      let bodyBytes = 0;
      for (let index = 0; index < this.#miniblocks && left > 0; index += 1) {
        bodyBytes += (widthAt(cursor.bytes, this.#widthsAt + index) * this.#valuesPerMiniblock) / 8;
        left -= this.#valuesPerMiniblock;
      }
      cursor.offset += bodyBytes;
      if (cursor.offset > cursor.bytes.length) {
        // Some writers cut off the padding of the last miniblock, after which nothing can follow.
        if (left > 0) throw new EndOfBytesError(DELTAS);
        cursor.offset = cursor.bytes.length;
      }
    }
  }

  #beginBlock(): void {
    const cursor = this.#cursor;
    [this.#minLow, this.#minHigh] = readHalves(cursor);
    this.#widthsAt = cursor.offset;
    cursor.skip(this.#miniblocks, DELTAS);
    this.#miniblock = 0;
  }

  #beginMiniblock(): void {
    if (this.#miniblock === this.#miniblocks) this.#beginBlock();
    const cursor = this.#cursor;
    this.#width = widthAt(cursor.bytes, this.#widthsAt + this.#miniblock);
    this.#miniblock += 1;
    this.#bodyAt = cursor.offset;
    this.#bit = 0;
    this.#left = this.#valuesPerMiniblock;
    // The position may exceed the end if padding is cut off; reading on then fails.
    cursor.offset += (this.#width * this.#valuesPerMiniblock) / 8;
  }
}

/** Numbers of a page in DELTA_BINARY_PACKED. */
export function deltaReader(cursor: ByteCursor, type: 'INT32' | 'INT64'): ValueReader {
  const deltas = new DeltaReader(cursor);
  return {
    next(count) {
      const values = type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count);
      deltas.read(values);
      return values;
    },
  };
}

/** Texts of a page in DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes. */
export function deltaLengthReader(
  cursor: ByteCursor,
  maxValues: number,
): { next(count: number): Uint8Array[] } {
  const { reader: lengths, end } = lengthsOf(cursor, maxValues);
  const { bytes } = cursor;
  let at = end;
  return {
    next(count) {
      const next = new Int32Array(count);
      lengths.read(next);
      const texts = contiguousTexts(bytes, at, next);
      for (const { length } of texts) at += length;
      return texts;
    },
  };
}

/** Texts in DELTA_BYTE_ARRAY. @param maxBytes of the page's values together; shared bytes count each time */
export function deltaByteArrayReader(cursor: ByteCursor, maxValues: number, maxBytes: number): ValueReader {
  const { reader: prefixes, end } = lengthsOf(cursor, maxValues);
  cursor.offset = end;
  const suffixes = deltaLengthReader(cursor, maxValues);
  let before = new Uint8Array();
  let left = maxBytes;
  return {
    next(count) {
      const shared = new Int32Array(count);
      prefixes.read(shared);
      return suffixes.next(count).map((suffix, index) => {
        const prefix = shared[index] as number;
        if (prefix < 0 || prefix > before.length) throw damaged('a value shares more than there is');
        left -= prefix + suffix.length;
        if (left < 0) throw unsupported(`the values of a page have more than ${maxBytes} bytes together`);
        const value = new Uint8Array(prefix + suffix.length);
        value.set(before.subarray(0, prefix));
        value.set(suffix, prefix);
        before = value;
        return value;
      });
    },
  };
}

/** Texts one after another, with their lengths apart. @throws ParquetError */
export function contiguousTexts(bytes: Uint8Array, start: number, lengths: Int32Array): Uint8Array[] {
  let at = start;
  return Array.from(lengths, (length) => {
    if (length < 0 || at + length > bytes.length) throw damaged('a value is longer than its page');
    at += length;
    return bytes.subarray(at - length, at);
  });
}

function lengthsOf(cursor: ByteCursor, maxValues: number): { reader: DeltaReader; end: number } {
  const start = cursor.offset;
  const reader = new DeltaReader(cursor);
  if (reader.total > maxValues) throw damaged('it has more lengths than values');
  reader.skipToEnd();
  const end = cursor.offset;
  // The lengths are read a second time, as they are needed, by a separate cursor.
  return { reader: new DeltaReader(cursor.fork(start)), end };
}

function wordsOf(values: BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/** Up to 32 bits at a place that has been checked; the lowest come first. */
function bitsAt(bytes: Uint8Array, base: number, bit: number, width: number): number {
  let at = base + (bit >>> 3);
  const shift = bit & 7;
  let value = (bytes[at] as number) >>> shift;
  for (let have = 8 - shift; have < width; have += 8) value |= (bytes[++at] as number) << have;
  return width === 32 ? value : value & ((1 << width) - 1);
}
