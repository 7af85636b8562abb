import { CanonicalWriter } from '../json/canonical/canonical-json.ts';
import type { JsonValue } from '../json/json-value.ts';

/** Cells of dataset rows as canonical JSON texts in one buffer, which is cheap to keep and to post to a thread. */
export interface Cells {
  readonly bytes: Uint8Array;
  /** The position after each cell's text. */
  readonly ends: Uint32Array;
}

/**
 * Writes cells one after another.
 *
 * @example
 * const writer = new CellWriter();
 * writer.value(1.5);
 * writer.text(Uint8Array.of(0x68, 0x69));
 * writer.end(); // bytes: 1.5"hi", ends: [3, 7]
 */
export class CellWriter {
  readonly #writer: CanonicalWriter = new CanonicalWriter();
  #ends: Uint32Array = new Uint32Array(INITIAL_CELLS);
  #count = 0;

  /** Bytes of all cells so far. */
  get byteLength(): number {
    return this.#writer.length;
  }

  /**
   * Writes a value.
   *
   * @throws JsonlError as `canonicalJson` does
   */
  value(value: JsonValue): void {
    this.#writer.write(value);
    this.#finishCell();
  }

  /**
   * Writes a range of UTF-8 as a string. Returns false, and writes nothing, if the range is not UTF-8.
   *
   * @param words a view of the same bytes, to be kept by callers that write many ranges of them
   */
  text(bytes: Uint8Array, start = 0, end: number = bytes.length, words: DataView = wordsOf(bytes)): boolean {
    if (!this.#writer.writeText(bytes, words, start, end)) return false;
    this.#finishCell();
    return true;
  }

  /** Writes the number that a range spells. Returns false, and writes nothing, if the range is not a JSON number. */
  number(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.#writer.writeNumber(bytes, start, end)) return false;
    this.#finishCell();
    return true;
  }

  /** Writes a range of UTF-8 that is canonical JSON already, such as a number. */
  canonical(bytes: Uint8Array, start: number, end: number): void {
    this.#writer.writeSpan(bytes, start, end);
    this.#finishCell();
  }

  /** Returns all cells, in new buffers, and resets the writer. */
  end(): Cells {
    const bytes = this.#writer.bytes(0, this.#writer.length).slice();
    const ends = this.#ends.slice(0, this.#count);
    this.#writer.clear();
    this.#count = 0;
    return { bytes, ends };
  }

  #finishCell(): void {
    if (this.#count === this.#ends.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#count++] = this.#writer.length;
  }
}

const INITIAL_CELLS = 1024;

/** The view of bytes that {@link CellWriter.text} takes. */
export function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
