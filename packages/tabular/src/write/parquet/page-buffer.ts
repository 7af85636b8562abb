import { setImmediate as nextTurn } from 'node:timers/promises';
import { cellJson, cellText, type LongText } from '../cell-text.ts';
import type { ColumnType } from '../table-column.ts';

/** A larger buffer is given up after its page: one long cell must not keep its memory. */
const KEPT_BYTES = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;
/** The longest text that grows the buffer in one step has this many bytes for each UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/** The cells of one page: runs of present and absent ones, and the values of the present ones (`PLAIN` encoding). */
export class PageBuffer {
  readonly #type: ColumnType;
  #values: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  /** Lengths of runs, of present cells at first, then of absent and present ones in turn. */
  #runs: number[] = [0];
  /** Bits of the last byte that are in use, for booleans. */
  #bits = 0;
  rowCount = 0;
  nullCount = 0;

  constructor(type: ColumnType) {
    this.#type = type;
  }

  /** Bytes so far. */
  get byteLength(): number {
    return this.#length + 2 * this.#runs.length;
  }

  /** Adds a cell, from JSON text. Gives a promise for a long one. */
  append(json: string | null): Promise<void> | undefined {
    const isNull = json === null || json === 'null';
    this.#addLevel(!isNull);
    if (isNull) return undefined;
    switch (this.#type) {
      case 'bool':
        this.#writeBit(json === 'true');
        return undefined;
      case 'int64':
        this.#reserve(8);
        this.#length = this.#values.writeBigInt64LE(BigInt(json), this.#length);
        return undefined;
      case 'double':
        this.#reserve(8);
        this.#length = this.#values.writeDoubleLE(Number(json), this.#length);
        return undefined;
      case 'string':
      case 'json': {
        const text = this.#type === 'json' ? cellJson(json) : cellText(json);
        if (typeof text !== 'string') return text === null ? undefined : this.#appendLong(text);
        this.#reserve(4 + BYTES_PER_UNIT * text.length);
        const written = this.#values.write(text, this.#length + 4);
        this.#values.writeUInt32LE(written, this.#length);
        this.#length += 4 + written;
        return undefined;
      }
    }
  }

  /** The bytes of the page. They are valid until {@link reset}. */
  take(): Uint8Array {
    const levels = encodeLevels(this.#runs);
    const page = Buffer.allocUnsafe(levels.byteLength + this.#length);
    levels.copy(page);
    this.#values.copy(page, levels.byteLength, 0, this.#length);
    return page;
  }

  /** Begins another page. */
  reset(): void {
    if (this.#values.byteLength > KEPT_BYTES) this.#values = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#length = 0;
    this.#runs = [0];
    this.#bits = 0;
    this.rowCount = 0;
    this.nullCount = 0;
  }

  #addLevel(isPresent: boolean): void {
    this.rowCount += 1;
    if (!isPresent) this.nullCount += 1;
    // Runs at even indexes are of present cells.
    if ((this.#runs.length % 2 === 1) !== isPresent) this.#runs.push(0);
    this.#runs[this.#runs.length - 1] = (this.#runs.at(-1) ?? 0) + 1;
  }

  async #appendLong(text: LongText): Promise<void> {
    const start = this.#length;
    this.#reserve(4);
    this.#length += 4;
    for (const piece of text.pieces()) {
      this.#reserve(BYTES_PER_UNIT * piece.length);
      this.#length += this.#values.write(piece, this.#length);
      await nextTurn();
    }
    this.#values.writeUInt32LE(this.#length - start - 4, start);
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
}

/**
 * The definition levels of a page: runs of ones and zeros in the hybrid encoding, behind their length.
 *
 * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
 */
function encodeLevels(runs: readonly number[]): Buffer {
  const bytes: number[] = [0, 0, 0, 0];
  for (const [index, length] of runs.entries()) {
    if (length === 0) continue;
    for (let rest = 2 * length; ; rest >>>= 7) {
      bytes.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
      if (rest <= 0x7f) break;
    }
    bytes.push(index % 2 === 0 ? 1 : 0);
  }
  const levels = Buffer.from(bytes);
  levels.writeUInt32LE(levels.byteLength - 4);
  return levels;
}
