import { JsonlError } from '@svc/jsonl-v23';
import { MAX_ROW_FAILURES, type RowFailures, toError } from './encode/row-failures.ts';

/** Invalid rows: the first 100, and how many. */
export class FaultList {
  readonly first: JsonlError[] = [];
  total = 0;

  /** @param file where the failures are that do not name one */
  add(failures: RowFailures, file?: string): void {
    this.total += failures.total;
    const room = MAX_ROW_FAILURES - this.first.length;
    for (const failure of failures.first.slice(0, room)) {
      this.first.push(inFile(toError(failure), file));
    }
  }

  /** Adds a fault that no row of a batch has, such as the place from which on a file cannot be read. */
  addError(error: JsonlError): void {
    this.total += 1;
    if (this.first.length < MAX_ROW_FAILURES) this.first.push(error);
  }
}

/** What an import finds in its lines and rows. The draft adds to it, and stores nothing any more once there is a fault. */
export class ImportReport {
  #faults = new FaultList();
  #skipped: FaultList | null = null;

  /** Lines and rows that refuse the dataset. */
  get faults(): FaultList {
    return this.#faults;
  }

  /** Rows that the mapping skips; null where none skips rows. */
  get skipped(): FaultList | null {
    return this.#skipped;
  }

  /** The list for the rows of a mapping. */
  listFor(invalidRows: 'skip' | 'fail' | undefined): FaultList {
    if (invalidRows !== 'skip') return this.#faults;
    this.#skipped ??= new FaultList();
    return this.#skipped;
  }

  /** Forgets all, as when an import begins again. */
  clear(): void {
    this.#faults = new FaultList();
    this.#skipped = null;
  }
}

function inFile(error: JsonlError, file: string | undefined): JsonlError {
  const { code, message, location } = error;
  if (file === undefined || location.file !== undefined) return error;
  return new JsonlError(code, message, { ...location, file }, { cause: error });
}
