import { TableError, unreadableFile } from '../errors.ts';
import type { ByteSource } from './byte-source.ts';

/** The limit for small files. */
const MIN_LIMIT_BYTES = 1024 * 1024 * 1024;
/** Repeated texts shrink to a hundredth; a column of one value to less. */
const MAX_EXPANSION_RATIO = 1000;
/** More than any item may have; a JavaScript string ends at twice as much. */
const MAX_ROW_BYTES = 256 * 1024 * 1024;

/** Counts what comes out of a file, by its compression or by references to one value. */
export interface ExpansionMeter {
  /** @throws TableError `too_large` if too much has come out */
  add(bytes: number): void;
}

export function createExpansionMeter({
  path,
  byteLength,
  maxContentBytes = Math.max(MIN_LIMIT_BYTES, byteLength * MAX_EXPANSION_RATIO),
}: Pick<ByteSource, 'path' | 'byteLength' | 'maxContentBytes'>): ExpansionMeter {
  let left = maxContentBytes;
  return {
    add(bytes) {
      left -= bytes;
      if (left >= 0) return;
      const reason = `more than ${maxContentBytes} bytes come out of its ${byteLength} bytes`;
      throw unreadableFile('too_large', path, reason);
    },
  };
}

/**
 * The minimum length of the JSON of some cells, without writing it: repeated references to a value take no memory until
 * then.
 *
 * @param location of the row, for the error
 * @throws TableError `invalid_row` if a row has more than any item may have
 */
export function rowBytes(cells: Iterable<unknown>, location: { file: string; row: number }): number {
  let total = 0;
  const add = (cell: unknown): void => {
    if (typeof cell === 'string') total += cell.length + 2;
    else if (cell instanceof Uint8Array) total += Math.ceil(cell.length / 3) * 4;
    else if (Array.isArray(cell)) {
      total += 2;
      for (const item of cell) add(item);
    } else if (typeof cell === 'object' && cell !== null && !ArrayBuffer.isView(cell)) {
      for (const value of Object.values(cell)) add(value);
    } else total += 1;
    if (total > MAX_ROW_BYTES) {
      throw new TableError('invalid_row', `The row has more than ${MAX_ROW_BYTES} bytes.`, { location });
    }
  };
  for (const cell of cells) add(cell);
  return total;
}
