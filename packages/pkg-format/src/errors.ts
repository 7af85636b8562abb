import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';

/** The codes of `PackageError`. They are stable; HTTP responses and the command line show the same codes. */
export type PackageErrorCode =
  | 'package_no_sections'
  | 'package_invalid_json'
  | 'package_invalid_line'
  | 'package_not_a_zip'
  | 'package_unsafe_entry'
  | 'package_corrupt'
  | 'package_hash_mismatch'
  | 'package_missing_file'
  | 'package_unsupported'
  | 'package_limit';

export interface PackageErrorOptions {
  readonly entry?: string | undefined;
  /** The location in the entry; by default only its name. */
  readonly location?: SourceLocation | undefined;
  readonly cause?: unknown;
  /** The first 100 errors, including this one, if several were looked for. */
  readonly errors?: readonly PackageError[];
  readonly errorsTotal?: number;
}

const PACKAGE_ERROR: unique symbol = Symbol.for('@svc/pkg-format.PackageError');

/**
 * The error of an archive that cannot be read as a package, or of a dataset that cannot be written as one. It has a
 * stable `code`, the `entry` of the archive, and the `location` in it (1-based line and column, JSON Pointer) as far as it
 * is known.
 */
export class PackageError extends Error {
  /** Recognises the class of every installed copy of this package: a dependency may bring another version. */
  static override [Symbol.hasInstance](value: unknown): value is PackageError {
    return typeof value === 'object' && value !== null && PACKAGE_ERROR in value;
  }

  static {
    Object.defineProperty(PackageError.prototype, PACKAGE_ERROR, { value: true });
  }

  readonly code: PackageErrorCode;
  readonly entry?: string;
  readonly location: SourceLocation;
  /** All errors, at most 100: this one, and later ones if reading continued. */
  declare readonly errors: readonly PackageError[];
  /** The number of all errors, also beyond 100. */
  declare readonly errorsTotal: number;

  constructor(code: PackageErrorCode, message: string, options: PackageErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PackageError';
    this.code = code;
    if (options.entry !== undefined) this.entry = options.entry;
    this.location = options.location ?? (options.entry === undefined ? {} : { file: options.entry });
    // Not enumerable: an error that is printed would print itself again.
    const { errors = [this], errorsTotal = errors.length } = options;
    Object.defineProperty(this, 'errors', { value: errors });
    Object.defineProperty(this, 'errorsTotal', { value: errorsTotal });
  }
}

const LINE_CODES: Partial<Record<JsonlErrorCode, PackageErrorCode>> = {
  line_too_long: 'package_limit',
  package_limit: 'package_limit',
  missing_file: 'package_missing_file',
};

/**
 * Converts the error of a line to a `PackageError`: `package_limit` for a line that is too long and for an import beyond
 * its limits, `package_missing_file` for an asset outside the archive, otherwise `package_invalid_line`. It keeps the
 * location, with `file` if that has no file. Returns other errors unchanged.
 */
export function toPackageError(error: unknown, file: string): unknown {
  if (!(error instanceof JsonlError)) return error;
  const code = LINE_CODES[error.code] ?? 'package_invalid_line';
  const location: SourceLocation = { file, ...error.location };
  return new PackageError(code, `${error.message}.`, {
    entry: location.file ?? file,
    location,
    cause: error,
  });
}

/** The error of one entry of an archive: `Entry "sections/a.jsonl" is encrypted.` */
export function entryError(
  code: PackageErrorCode,
  name: string,
  problem: string,
  cause?: unknown,
): PackageError {
  return new PackageError(code, `Entry ${quote(name)} ${problem}.`, { entry: name, cause });
}

export const corruptArchive = (message: string): PackageError => new PackageError('package_corrupt', message);

/** A value for a message: quoted, control characters escaped, cut after 100 characters. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 99)}…` : value);
}

/** What is wrong with a path that the archive does not have, without a full stop. */
export const missingFileProblem = (path: string): string => `The archive has no file ${quote(path)}`;

export function missingFile(path: string, location?: SourceLocation): PackageError {
  return new PackageError('package_missing_file', `${missingFileProblem(path)}.`, {
    entry: path,
    location,
  });
}

/** Errors that are kept; further ones are counted. */
const MAX_ERRORS = 100;

export class ErrorList {
  #first: PackageError[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Adds an error that concerns one entry or a part of it, or all errors of an item. */
  add(error: unknown): void {
    if (!(error instanceof PackageError) || error.location.file === undefined) throw error;
    const { line, row } = error.location;
    if (error.code === 'package_limit' && line === undefined && row === undefined) throw this.#with(error);
    this.#total += error.errorsTotal;
    this.#first.push(...error.errors.slice(0, MAX_ERRORS - this.#first.length));
  }

  /** Whether an error of this entry is among the first. */
  has(file: string): boolean {
    return this.#first.some(({ location }) => location.file === file);
  }

  /** Replaces the errors of a damaged entry, which the damage caused. */
  damaged(error: PackageError): void {
    const kept = this.#first.filter(({ location }) => location.file !== error.location.file);
    this.#total -= this.#first.length - kept.length;
    this.#first = kept;
    this.add(error);
  }

  /** @throws PackageError the first error, with all in `errors`, if there is one */
  throwIfAny(): void {
    const [first] = this.#first;
    if (first !== undefined) throw this.#with(null);
  }

  #with(last: PackageError | null): PackageError {
    const errors = last === null ? this.#first : [...this.#first.slice(0, MAX_ERRORS - 1), last];
    const [first] = errors as [PackageError];
    const { code, message, entry, location, cause } = first;
    return new PackageError(code, message, {
      entry,
      location,
      cause,
      errors,
      errorsTotal: this.#total + (last === null ? 0 : 1),
    });
  }
}
