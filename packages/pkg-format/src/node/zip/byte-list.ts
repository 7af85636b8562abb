const BLOCK_BYTES = 64 * 1024;

/** Keeps many small records, without an object for each. */
export class ByteList {
  readonly #blocks: Uint8Array[] = [];
  #last = Buffer.alloc(0);
  #usedBytes = 0;

  /** Adds a copy of a record. */
  add(record: Uint8Array): void {
    if (this.#usedBytes + record.byteLength > this.#last.byteLength) {
      this.#end();
      this.#last = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, record.byteLength));
    }
    this.#last.set(record, this.#usedBytes);
    this.#usedBytes += record.byteLength;
  }

  /** All records, in blocks. */
  blocks(): readonly Uint8Array[] {
    this.#end();
    return this.#blocks;
  }

  #end(): void {
    if (this.#usedBytes > 0) this.#blocks.push(this.#last.subarray(0, this.#usedBytes));
    this.#last = this.#last.subarray(this.#usedBytes);
    this.#usedBytes = 0;
  }
}
