/** Size of an emitted block; larger chunks pass through. */
const BLOCK_BYTES = 128 * 1024;

/** Joins small parts of an archive into blocks, so that they do not take a write each. */
export class BlockBuffer {
  #parts: Uint8Array[] = [];
  #byteLength = 0;
  /** Bytes that were added. */
  position = 0;

  get isFull(): boolean {
    return this.#byteLength >= BLOCK_BYTES;
  }

  /** Adds bytes, which must not change. */
  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.#byteLength += part.byteLength;
    this.position += part.byteLength;
  }

  take(): Uint8Array {
    const [only] = this.#parts;
    const block = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#byteLength = 0;
    return block;
  }
}
