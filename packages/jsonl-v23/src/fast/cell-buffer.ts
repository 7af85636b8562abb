import { ASCII } from '../json/ascii.ts';
import { copyRange } from './copy-range.ts';

const { MINUS, ZERO, NINE, LOWER_N } = ASCII;

/**
 * The cells of a batch of rows, and after them, in the same buffer, the item that is put together from them. The row
 * encoder extends this class, for the reason given at `JsonTokenizer`.
 */
export abstract class CellBuffer {
  /** The cells, and after them what is written of an item. */
  protected bytes: Uint8Array = new Uint8Array();
  #cellsEnd = 0;
  #ends: Uint32Array = new Uint32Array();
  #columnCount = 0;
  /** Where writing continues. */
  protected written = 0;
  /** The current cell. */
  protected start = 0;
  protected end = 0;

  /** Loads cells, with room for `itemBytes` bytes of an item. */
  protected loadCells(cells: Uint8Array, ends: Uint32Array, columnCount: number, itemBytes: number): void {
    const needed = cells.length + itemBytes;
    if (this.bytes.length < needed || this.bytes.length > 4 * needed) this.bytes = new Uint8Array(needed);
    this.bytes.set(cells);
    this.#cellsEnd = cells.length;
    this.#ends = ends;
    this.#columnCount = columnCount;
  }

  /** Discards what is written. */
  protected rewind(): void {
    this.written = this.#cellsEnd;
  }

  /** Goes to a cell. Returns false if the column is -1 or the cell is null. */
  protected find(column: number, row: number): boolean {
    if (column === -1) return false;
    const cell = row * this.#columnCount + column;
    this.start = cell === 0 ? 0 : (this.#ends[cell - 1] as number);
    this.end = this.#ends[cell] as number;
    return this.first !== LOWER_N;
  }

  /** The first byte of the current cell. */
  protected get first(): number {
    return this.bytes[this.start] as number;
  }

  /** Whether the current cell has only digits, and perhaps a minus before them. */
  protected isInteger(): boolean {
    for (let at = this.start; at < this.end; at++) {
      const code = this.bytes[at] as number;
      const isDigit = code >= ZERO && code <= NINE;
      if (!isDigit && (code !== MINUS || at > this.start)) return false;
    }
    return true;
  }

  /** The text of the current cell. */
  protected cellText(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.bytes.subarray(this.start, this.end));
  }

  protected put(byte: number): void {
    this.bytes[this.written++] = byte;
  }

  protected putAll(added: Uint8Array): void {
    const { bytes } = this;
    let to = this.written;
    for (let index = 0; index < added.length; index++) bytes[to++] = added[index] as number;
    this.written = to;
  }

  protected putCell(): void {
    this.written = copyRange(this.bytes, this.written, this.start, this.end);
  }

  protected putInteger(value: number): void {
    const digits = String(value);
    for (let index = 0; index < digits.length; index++) this.bytes[this.written++] = digits.charCodeAt(index);
  }
}
