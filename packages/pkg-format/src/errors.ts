import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';

/** Every way an archive can fail to be a package; the same strings stand in HTTP answers and on the command line. */
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
  /** The archive entry at fault. */
  entry?: string;
  /** Where in it; `file` defaults to the entry. */
  location?: SourceLocation;
  cause?: unknown;
}

/**
 * An archive that cannot be read as a package, or a dataset that cannot be written as one.
 *
 * `code` is stable, `entry` names the archive entry at fault, `place` says where in it (1-based line and column, JSON
 * Pointer) as far as it is known.
 */
export class PackageError extends Error {
  readonly code: PackageErrorCode;
  readonly entry?: string;
  readonly location: SourceLocation;

  constructor(code: PackageErrorCode, message: string, options: PackageErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PackageError';
    this.code = code;
    if (options.entry !== undefined) this.entry = options.entry;
    this.location = options.location ?? (options.entry === undefined ? {} : { file: options.entry });
  }
}

/**
 * Turns what a line of a section failed with into the package's own error; anything else comes back as it is.
 *
 * A line over the limit is `package_limit`, every other fault of a line `package_invalid_line`; the place is kept, with
 * `file` as its file where it had none.
 */
export function toPackageError(error: unknown, file: string): unknown {
  if (!(error instanceof JsonlError)) return error;
  const code = error.code === 'line_too_long' ? 'package_limit' : 'package_invalid_line';
  const location: SourceLocation = { file, ...error.location };
  return new PackageError(code, error.message, { entry: location.file ?? file, location, cause: error });
}

/** The error of one archive entry: `Entry "sections/a.jsonl" is encrypted`. */
export function entryError(
  code: PackageErrorCode,
  name: string,
  fault: string,
  cause?: unknown,
): PackageError {
  return new PackageError(code, `Entry ${quote(name)} ${fault}`, { entry: name, cause });
}

/** A value as it may stand in a message: quoted, control characters escaped, cut after 100 characters. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 99)}…` : value);
}
