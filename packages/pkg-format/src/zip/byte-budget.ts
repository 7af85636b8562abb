import { entryError } from '../errors.ts';
import { ARCHIVE_RATIO_FREE_BYTES, type PackageLimits } from '../limits.ts';

/** Limits the uncompressed bytes that one reader takes out of an archive. */
export class ByteBudget {
  readonly #limits: PackageLimits;
  readonly #ratioBytes: number;
  #spentBytes = 0;

  /** @param archiveBytes the compressed size of the archive */
  constructor(archiveBytes: number, limits: PackageLimits) {
    this.#limits = limits;
    this.#ratioBytes = Math.max(
      ARCHIVE_RATIO_FREE_BYTES,
      Math.floor(archiveBytes * limits.maxExpansionRatio),
    );
  }

  /** Bytes that may still be spent. */
  get remainingBytes(): number {
    return Math.min(this.#limits.maxTotalBytes, this.#ratioBytes) - this.#spentBytes;
  }

  /**
   * Spends the bytes of an entry.
   *
   * @throws PackageError `package_limit` if fewer remain
   */
  spend(byteLength: number, entry: string): void {
    if (byteLength > this.remainingBytes) {
      const { maxTotalBytes, maxExpansionRatio } = this.#limits;
      const problem =
        maxTotalBytes <= this.#ratioBytes
          ? `exceeds the limit of ${maxTotalBytes} uncompressed bytes for the archive`
          : `makes the archive as a whole expand more than ${maxExpansionRatio} times`;
      throw entryError('package_limit', entry, problem);
    }
    this.#spentBytes += byteLength;
  }
}
