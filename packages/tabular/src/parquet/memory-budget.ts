import { unsupported } from './parquet-error.ts';

/** Bytes that pages, dictionaries and unfinished rows of one reader may have at the same time. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Counts what decoding one file holds in memory, over all of its columns. */
export class MemoryBudget {
  #held = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Counts a change of the memory that is held.
   * @returns `after`
   * @throws ParquetError if the sum becomes too large
   */
  change(before: number, after: number): number {
    if (this.#held - before + after > this.#maxBytes) {
      throw unsupported(`its columns need more than ${this.#maxBytes} bytes of memory`);
    }
    this.#held += after - before;
    return after;
  }
}
