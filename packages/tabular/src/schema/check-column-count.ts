import { TableError } from '../errors.ts';

/**
 * Columns that a table may have: as many as a sheet of a spreadsheet. Every row has all of them, so a short row may become a
 * long one, and each column takes memory.
 */
const MAX_COLUMNS = 16_384;

/** @throws TableError `unsupported_file` for more columns than a table may have */
export function checkColumnCount(count: number): void {
  if (count <= MAX_COLUMNS) return;
  throw new TableError(
    'unsupported_file',
    `Cannot read the files: they have more than ${MAX_COLUMNS} columns.`,
  );
}
