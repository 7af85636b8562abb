import type { CellValues } from './cells/convert.ts';
import type { StoredValues } from './encodings/values.ts';

/** Decoded rows of one leaf that have not been taken yet. */
export class RowBuffer {
  #rows: CellValues = [];
  #taken = 0;
  /** The last row of a nested page, which the next page may continue. */
  #open: unknown[] = [];
  #openEntries = 0;

  /** Complete rows. */
  get ready(): number {
    return this.#rows.length - this.#taken;
  }

  /** The last row, which may continue. */
  get open(): readonly unknown[] {
    return this.#open;
  }

  /** Replaces the rows after all of them were read. */
  set(rows: CellValues): void {
    this.#rows = rows;
    this.#taken = 0;
  }

  /**
   * Replaces the rows by nested ones; the last one may continue.
   * @param rows include the row that was open before
   * @param entries how many were decoded
   * @returns entries of the row that may continue
   */
  setNested(rows: unknown[], entries: number): number {
    this.#openEntries = rows.length > this.#open.length ? entries : this.#openEntries + entries;
    this.#open = rows.splice(-1);
    this.set(rows);
    return this.#openEntries;
  }

  /** Takes the next rows; at most `ready`. */
  take(count: number): CellValues {
    const from = this.#taken;
    this.#taken += count;
    const rows = this.#rows;
    return Array.isArray(rows)
      ? rows.slice(from, this.#taken)
      : (rows as Exclude<StoredValues, unknown[]>).subarray(from, this.#taken);
  }

  /** Completes the last row. */
  finish(): void {
    if (this.#open.length === 0) return;
    this.set(this.#open);
    this.#open = [];
  }
}
