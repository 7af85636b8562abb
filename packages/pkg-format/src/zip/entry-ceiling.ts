import { entryError, type PackageError } from '../errors.ts';
import { type PackageLimits, RATIO_FREE_BYTES } from '../limits.ts';
import type { ZipEntry } from './zip-entry.ts';

/** The bytes that an entry may give. */
export interface EntryCeiling {
  /** The next byte is an error. */
  readonly bytes: number;
  error(): PackageError;
}

/**
 * The lowest bound on what an entry may give: its declared size, the expansion ratio, or the caller's own bound (an
 * asset, a JSON document). It does not depend on how the bytes are cut into chunks, so every way of reading fails alike.
 */
export function entryCeiling(
  entry: ZipEntry,
  limits: PackageLimits,
  maxBytes: number = Number.POSITIVE_INFINITY,
): EntryCeiling {
  const ratioBytes = Math.max(RATIO_FREE_BYTES, Math.floor(entry.compressedSize * limits.maxExpansionRatio));
  const bytes = Math.min(entry.size, ratioBytes, maxBytes);
  return {
    bytes,
    error: () => {
      if (bytes === entry.size) {
        const problem = `contains more than the ${entry.size} bytes that its header states`;
        return entryError('package_corrupt', entry.name, problem);
      }
      return bytes === maxBytes
        ? entryError('package_limit', entry.name, `has more than ${maxBytes} bytes`)
        : entryError('package_limit', entry.name, `expands more than ${limits.maxExpansionRatio} times`);
    },
  };
}
