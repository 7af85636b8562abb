import { setImmediate as nextTurn } from 'node:timers/promises';
import { cellJson, cellText, type LongText } from '../cell-text.ts';
import type { Leaf } from './parquet-column.ts';

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

  reset(): void {
    this.#runs = [this.#first, 0];
  }

  /**
   * The runs in the hybrid encoding, behind their length.
   * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
   */
  encode(): Buffer {
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
    return levels;
  }
}

/** A larger buffer is given up after its page: one long cell must not keep its memory. */
const KEPT_BYTES = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;
/** The longest text that grows the buffer in one step has this many bytes for each UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/** The entries of one page: their levels, and the values of the present ones (`PLAIN` encoding). */
export class PageBuffer {
  readonly #type: Leaf['type'];
  readonly #maxDefinition: number;
  readonly #definitions: LevelRuns;
  /** Null for a leaf that is not part of a list. */
  readonly #repetitions: LevelRuns | null;
  #values: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  /** Bits of the last byte that are in use, for booleans. */
  #bits = 0;
  valueCount = 0;
  nullCount = 0;

  constructor({ type, maxDefinition, maxRepetition }: Leaf) {
    this.#type = type;
    this.#maxDefinition = maxDefinition;
    this.#definitions = new LevelRuns(maxDefinition);
    this.#repetitions = maxRepetition === 0 ? null : new LevelRuns(0);
  }

  get byteLength(): number {
    return this.#length + this.#definitions.byteLength + (this.#repetitions?.byteLength ?? 0);
  }

  /** Adds a cell, from JSON text. Gives a promise for a long one. */
  append(json: string | null): Promise<void> | undefined {
    const isNull = json === null || json === 'null';
    this.#addLevels(isNull ? 0 : this.#maxDefinition, 0);
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
      case 'bytes':
        throw new Error('Bytes have no JSON text.');
    }
  }

  /** @param value null for an entry whose definition level is not the highest */
  appendNested(definition: number, repetition: number, value: Uint8Array | null): void {
    this.#addLevels(definition, repetition);
    if (value === null) return;
    this.#reserve(4 + value.byteLength);
    this.#values.writeUInt32LE(value.byteLength, this.#length);
    this.#values.set(value, this.#length + 4);
    this.#length += 4 + value.byteLength;
  }

  /** The bytes of the page. They are valid until {@link reset}. */
  take(): Uint8Array {
    const levels = [this.#repetitions, this.#definitions].flatMap((runs) => runs?.encode() ?? []);
    return Buffer.concat([...levels, this.#values.subarray(0, this.#length)]);
  }

  reset(): void {
    if (this.#values.byteLength > KEPT_BYTES) this.#values = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#length = 0;
    this.#definitions.reset();
    this.#repetitions?.reset();
    this.#bits = 0;
    this.valueCount = 0;
    this.nullCount = 0;
  }

  #addLevels(definition: number, repetition: number): void {
    this.valueCount += 1;
    if (definition < this.#maxDefinition) this.nullCount += 1;
    this.#definitions.add(definition);
    this.#repetitions?.add(repetition);
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
