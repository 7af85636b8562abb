import { CanonicalWriter } from '../json/canonical/canonical-writer.ts';
import type { JsonValue } from '../json/json-value.ts';

/** Cells of dataset rows as canonical JSON texts, one after another: small to keep, and whole to hand to a thread. */
export interface Cells {
  bytes: Uint8Array;
  /** Where each cell's text ends, and the next one's starts. */
  ends: Uint32Array;
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
  #ends: Uint32Array = new Uint32Array(START_CELLS);
  #count = 0;

  /** Bytes of all cells so far. */
  get byteLength(): number {
    return this.#writer.length;
  }

  /** Writes a value. Throws JsonlError as `canonicalJson` does. */
  value(value: JsonValue): void {
    this.#writer.write(value);
    this.#finishCell();
  }

  /** Writes a string that a range of bytes is in UTF-8; false, with nothing written, where they are no UTF-8. */
  text(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    if (!this.#writer.writeText(bytes, start, end)) return false;
    this.#finishCell();
    return true;
  }

  /** All cells, in buffers of their own. Then the writer starts anew. */
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

const START_CELLS = 1024;
