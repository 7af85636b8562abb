import { TableError } from '../errors.ts';
import type { CsvScanner } from './csv-scanner.ts';

/** Goes from record to record, and keeps why there are no more, for a reader that goes on after invalid rows. */
export class RecordReader {
  /** Why the file cannot be read further. */
  end: TableError | null = null;
  readonly #keepsError: boolean;

  constructor(keepsError: boolean) {
    this.#keepsError = keepsError;
  }

  /** As `CsvScanner.next`. @throws TableError `invalid_row`, unless it is kept */
  next(scanner: CsvScanner): boolean {
    if (!this.#keepsError) return scanner.next();
    try {
      return scanner.next();
    } catch (error) {
      if (!(error instanceof TableError && error.code === 'invalid_row')) throw error;
      this.end = error;
      return false;
    }
  }
}
