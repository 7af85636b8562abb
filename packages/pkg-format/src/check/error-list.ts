import { PackageError } from '../errors.ts';

/** Errors that are kept; further ones are counted. */
const MAX_ERRORS = 100;

/** Collects the errors of an archive. */
export class ErrorList {
  #first: PackageError[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /**
   * Adds an error that concerns one entry or a part of it, or all errors of an item.
   *
   * @throws the error, if it concerns the archive as a whole or is of another class
   */
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
      ...(entry !== undefined && { entry }),
      location,
      cause,
      errors,
      errorsTotal: this.#total + (last === null ? 0 : 1),
    });
  }
}
