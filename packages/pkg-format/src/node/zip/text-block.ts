const BLOCK_BYTES = 256 * 1024;
/** Bytes of UTF-8 that a UTF-16 code unit may take. */
const MAX_BYTES_PER_UNIT = 3;

/** Collects texts as UTF-8 in one block of memory that is used again and again, so that no text outlives its item. */
export class TextBlock {
  readonly #bytes: Buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  #usedBytes = 0;

  /** Whether a text fits for certain. */
  hasRoomFor(text: string): boolean {
    return text.length * MAX_BYTES_PER_UNIT <= BLOCK_BYTES - this.#usedBytes;
  }

  /** Adds a text that fits. */
  add(text: string): void {
    this.#usedBytes += this.#bytes.write(text, this.#usedBytes);
  }

  /** The bytes so far, which are valid until the next `add`. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#usedBytes);
    this.#usedBytes = 0;
    return bytes;
  }
}
