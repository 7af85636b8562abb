import type { TableError } from '../errors.ts';
import type { CsvScanner } from './csv-scanner.ts';

/** The error for a row that does not have as many fields as its table has columns. */
export function wrongWidth(scanner: CsvScanner, width: number): TableError {
  const count = scanner.fieldCount;
  const at = scanner.ends[Math.min(count, width) - 1] as number;
  return scanner.error(`The row must have ${width} fields, got ${count}.`, at);
}
