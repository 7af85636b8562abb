import { entryError } from '../errors.ts';
import { ARCHIVE_RATIO_FREE_BYTES, type PackageLimits } from '../limits.ts';

/** The uncompressed bytes that an archive may give over the life of one reader. */
export class ByteBudget {
  readonly #limits: PackageLimits;
  readonly #ratioBytes: number;
  #spentBytes = 0;

  /** @param archiveBytes the size of the archive as it is, compressed */
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
   * Takes bytes off that an entry gives.
   *
   * @throws PackageError `package_limit` where that is more than is left
   */
  spend(byteLength: number, entry: string): void {
    if (byteLength > this.remainingBytes) {
      const { maxTotalBytes, maxExpansionRatio } = this.#limits;
      const fault =
        maxTotalBytes <= this.#ratioBytes
          ? "goes over the archive's total of uncompressed bytes"
          : `makes the archive as a whole expand over ${maxExpansionRatio} times`;
      throw entryError('package_limit', entry, fault);
    }
    this.#spentBytes += byteLength;
  }
}
