import { entryError, type PackageError } from '../errors.ts';
import { ARCHIVE_RATIO_FREE_BYTES, type PackageLimits } from '../limits.ts';

/**
 * Limits the uncompressed bytes that one reader takes out of an archive. The total counts all that it gives out, a file
 * once for each reference to it; the expansion ratio counts what is inflated, each entry once.
 */
export class ByteBudget {
  readonly #limits: PackageLimits;
  readonly #ratioBytes: number;
  #givenBytes = 0;
  #inflatedBytes = 0;
  /** How far each entry was inflated, by its name. */
  readonly #inflated = new Map<string, number>();
  #error: PackageError | undefined;

  /** @param archiveBytes the compressed size of the archive */
  constructor(archiveBytes: number, limits: PackageLimits) {
    this.#limits = limits;
    this.#ratioBytes = Math.max(
      ARCHIVE_RATIO_FREE_BYTES,
      Math.floor(archiveBytes * limits.maxExpansionRatio),
    );
  }

  /** Bytes of an entry that may still be spent, from a position in it. */
  remainingBytes(entry: string, position: number): number {
    return Math.min(this.#limits.maxTotalBytes - this.#givenBytes, this.#inflatableBytes(entry, position));
  }

  /**
   * Spends bytes of an entry, from a position in it.
   *
   * @throws PackageError `package_limit` if fewer remain: the same error each time, since it concerns the whole archive
   */
  spend(entry: string, position: number, byteLength: number): void {
    const { maxTotalBytes, maxExpansionRatio } = this.#limits;
    if (this.#givenBytes + byteLength > maxTotalBytes) {
      const problem = `exceeds the limit of ${maxTotalBytes} uncompressed bytes for the archive, in which a file counts once for each reference`;
      this.#error ??= entryError('package_limit', entry, problem);
      throw this.#error;
    }
    if (byteLength > this.#inflatableBytes(entry, position)) {
      const problem = `makes the archive as a whole expand more than ${maxExpansionRatio} times`;
      this.#error ??= entryError('package_limit', entry, problem);
      throw this.#error;
    }
    this.#givenBytes += byteLength;
    const end = position + byteLength;
    const known = this.#inflated.get(entry) ?? 0;
    if (end <= known) return;
    this.#inflated.set(entry, end);
    this.#inflatedBytes += end - known;
  }

  /** What the ratio allows of an entry from a position in it, with the bytes that were inflated before. */
  #inflatableBytes(entry: string, position: number): number {
    const known = Math.max(0, (this.#inflated.get(entry) ?? 0) - position);
    return known + this.#ratioBytes - this.#inflatedBytes;
  }
}
