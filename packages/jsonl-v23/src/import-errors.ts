import type { SourceLocation } from './source-location.ts';

/** An error with a stable code and a location. */
export interface LocatedError extends Error {
  readonly code: string;
  readonly location: SourceLocation;
}

/** Several errors that end one import. It has the code, message and location of the first. */
export class ImportErrors<E extends LocatedError> extends Error {
  override readonly name = 'ImportErrors';
  readonly code: E['code'];
  readonly location: SourceLocation;
  /** The first 100. */
  readonly errors: readonly E[];
  readonly total: number;

  constructor(first: E, errors: readonly E[], total: number) {
    super(first.message, { cause: first });
    this.code = first.code;
    this.location = first.location;
    this.errors = errors;
    this.total = total;
  }
}
