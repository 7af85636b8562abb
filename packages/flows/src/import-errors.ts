import type { JsonlError, SourceLocation } from '@svc/jsonl-v23';
import type { PackageError } from '@svc/pkg-format';

/** An error of one line, row or column. */
export type ImportError = JsonlError | PackageError;

/** Several errors that end one import. Code, message and location are those of the first. */
export class ImportErrors extends Error {
  readonly code: ImportError['code'];
  readonly location: SourceLocation;
  /** The first 100. */
  readonly errors: readonly ImportError[];
  readonly total: number;

  constructor(first: ImportError, errors: readonly ImportError[], total: number) {
    super(first.message, { cause: first });
    this.name = 'ImportErrors';
    this.code = first.code;
    this.location = first.location;
    this.errors = errors;
    this.total = total;
  }
}
