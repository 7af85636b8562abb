import { setImmediate as nextTurn } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { cellText, type Leaf } from '../table-column.ts';
import { type ColumnChunk, encodePageHeader } from './metadata.ts';

/** A page ends with the row that brings it to one of these. */
const PAGE_BYTES = 256 * 1024;
const PAGE_VALUES = 16 * 1024;
const CHECKSUM_BYTES = 1024 * 1024;
/** A larger buffer is given up after its page: one long cell must not keep its memory. */
const KEPT_BYTES = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;

/** The levels of the entries of a page, as runs of equal ones. */
class LevelRuns {
  readonly #first: number;
  /** Level and length of each run, in turn. */
  #runs: number[];

  /** @param first the level that entries usually begin with */
  constructor(first: number) {
    this.#first = first;
    this.#runs = [first, 0];
  }

  get byteLength(): number {
    return this.#runs.length;
  }

  add(level: number): void {
    const runs = this.#runs;
    if (runs.at(-2) !== level) runs.push(level, 0);
    runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
  }

  /**
   * The runs in the hybrid encoding, behind their length. Begins another page.
   *
   * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
   */
  take(): Buffer {
    const bytes: number[] = [0, 0, 0, 0];
    for (let at = 0; at < this.#runs.length; at += 2) {
      const [level = 0, length = 0] = this.#runs.slice(at, at + 2);
      if (length === 0) continue;
      for (let rest = 2 * length; ; rest >>>= 7) {
        bytes.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
        if (rest <= 0x7f) break;
      }
      bytes.push(level);
    }
    const levels = Buffer.from(bytes);
    levels.writeUInt32LE(levels.byteLength - 4);
    this.#runs = [this.#first, 0];
    return levels;
  }
}

/** Encodes (`PLAIN`) and compresses the pages of one column in a row group. */
export class ChunkWriter {
  readonly #type: Leaf['type'];
  readonly #maxDefinition: number;
  /** Of the page, as everything down to its counts. */
  readonly #definitions: LevelRuns;
  /** Null for a leaf that is not part of a list. */
  readonly #repetitions: LevelRuns | null;
  #values: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  /** Bits of the last byte that are in use, for booleans. */
  #bits = 0;
  #entryCount = 0;
  #emptyCount = 0;
  /** Of the pages before. */
  #pages: Uint8Array[] = [];
  #valueCount = 0;
  #nullCount = 0;
  #endedBytes = 0;

  constructor({ type, maxDefinition, maxRepetition }: Leaf) {
    this.#type = type;
    this.#maxDefinition = maxDefinition;
    this.#definitions = new LevelRuns(maxDefinition);
    this.#repetitions = maxRepetition === 0 ? null : new LevelRuns(0);
  }

  /** Size of all pages so far, before compression. */
  get uncompressedBytes(): number {
    return this.#endedBytes + this.#pageBytes;
  }

  /** Adds a cell, from JSON text. Gives a promise when it completes a page. */
  append(json: string | null): Promise<void> | undefined {
    const isNull = json === null || json === 'null';
    this.#addLevels(isNull ? 0 : this.#maxDefinition, 0);
    if (!isNull) this.#writeCell(json);
    return this.endRow();
  }

  /**
   * Adds an entry of a nested leaf by its levels. {@link endRow} follows the last one of a row.
   *
   * @param value null for an entry whose definition level is not the highest
   */
  appendNested(definition: number, repetition: number, value: Uint8Array | null): void {
    this.#addLevels(definition, repetition);
    if (value === null) return;
    this.#reserve(4 + value.byteLength);
    this.#values.writeUInt32LE(value.byteLength, this.#length);
    this.#values.set(value, this.#length + 4);
    this.#length += 4 + value.byteLength;
  }

  /** Ends the page if it is full, which takes a promise. */
  endRow(): Promise<void> | undefined {
    const isFull = this.#pageBytes >= PAGE_BYTES || this.#entryCount >= PAGE_VALUES;
    return isFull ? this.#endPage() : undefined;
  }

  /** The chunk with its pages, which begin at `offset`. Begins another chunk. */
  async end(offset: number): Promise<{ readonly chunk: ColumnChunk; readonly pages: readonly Uint8Array[] }> {
    if (this.#entryCount > 0) await this.#endPage();
    const pages = this.#pages;
    const chunk = {
      valueCount: this.#valueCount,
      nullCount: this.#nullCount,
      uncompressedBytes: this.#endedBytes,
      compressedBytes: pages.reduce((sum, { byteLength }) => sum + byteLength, 0),
      offset,
    };
    this.#pages = [];
    this.#valueCount = 0;
    this.#nullCount = 0;
    this.#endedBytes = 0;
    return { chunk, pages };
  }

  get #pageBytes(): number {
    return this.#length + this.#definitions.byteLength + (this.#repetitions?.byteLength ?? 0);
  }

  #addLevels(definition: number, repetition: number): void {
    this.#entryCount += 1;
    if (definition < this.#maxDefinition) this.#emptyCount += 1;
    this.#definitions.add(definition);
    this.#repetitions?.add(repetition);
  }

  #writeCell(json: string): void {
    switch (this.#type) {
      case 'bool':
        this.#writeBit(json === 'true');
        return;
      case 'int64':
        this.#reserve(8);
        this.#length = this.#values.writeBigInt64LE(BigInt(json), this.#length);
        return;
      case 'double':
        this.#reserve(8);
        this.#length = this.#values.writeDoubleLE(Number(json), this.#length);
        return;
      case 'string':
      case 'json': {
        const text = this.#type === 'json' ? json : (cellText(json) ?? '');
        this.#reserve(4 + Buffer.byteLength(text));
        const written = this.#values.write(text, this.#length + 4);
        this.#values.writeUInt32LE(written, this.#length);
        this.#length += 4 + written;
        return;
      }
      case 'bytes':
        throw new Error('Bytes have no JSON text.');
    }
  }

  #writeBit(isSet: boolean): void {
    if (this.#bits === 0) {
      this.#reserve(1);
      this.#values[this.#length] = 0;
      this.#length += 1;
    }
    if (isSet) {
      const last = this.#length - 1;
      this.#values[last] = (this.#values[last] ?? 0) | (1 << this.#bits);
    }
    this.#bits = (this.#bits + 1) % 8;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#values.byteLength) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#values.byteLength));
    this.#values.copy(larger, 0, 0, this.#length);
    this.#values = larger;
  }

  async #endPage(): Promise<void> {
    const levels = [this.#repetitions, this.#definitions].flatMap((runs) => runs?.take() ?? []);
    const bytes = Buffer.concat([...levels, this.#values.subarray(0, this.#length)]);
    const valueCount = this.#entryCount;
    this.#valueCount += valueCount;
    this.#nullCount += this.#emptyCount;
    if (this.#values.byteLength > KEPT_BYTES) this.#values = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#length = 0;
    this.#bits = 0;
    this.#entryCount = 0;
    this.#emptyCount = 0;
    const compressed = await compress(bytes);
    const header = encodePageHeader({
      valueCount,
      uncompressedBytes: bytes.byteLength,
      compressedBytes: compressed.byteLength,
      crc32: await checksum(compressed),
    });
    this.#endedBytes += header.byteLength + bytes.byteLength;
    this.#pages.push(header, compressed);
  }
}

/** CRC-32 of bytes; the event loop runs after each megabyte. */
async function checksum(bytes: Uint8Array): Promise<number> {
  let crc = 0;
  for (let at = 0; at < bytes.byteLength; at += CHECKSUM_BYTES) {
    if (at > 0) await nextTurn();
    crc = zlib.crc32(bytes.subarray(at, at + CHECKSUM_BYTES), crc);
  }
  return crc;
}

function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    requireZstd()(bytes, (error, compressed) => (error === null ? resolve(compressed) : reject(error)));
  });
}

/** Node has zstd from 22.15 on. */
export function requireZstd(): typeof zlib.zstdCompress {
  const { zstdCompress }: Partial<typeof zlib> = zlib;
  if (zstdCompress !== undefined) return zstdCompress;
  throw new Error(
    `Cannot write Parquet: zstd needs Node 22.15 or newer, and this is ${process.versions.node}.`,
  );
}
