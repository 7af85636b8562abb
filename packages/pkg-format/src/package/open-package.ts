import type { PackageLimits } from '../limits.ts';
import { type ArchiveInput, openSource } from '../zip/byte-source.ts';
import { openArchive } from './open-archive.ts';
import { type PackageReader, readPackage } from './package-reader.ts';

/** Options of `openPackage` and `openPackageFile`. */
export interface OpenOptions {
  readonly limits?: Partial<PackageLimits>;
}

/**
 * Opens a package in memory, in a `File` or `Blob`, or behind any source of byte ranges; runs anywhere, browsers included.
 * Memory does not grow with the archive: its directory is held, and files are unpacked while they are read. A source stays
 * yours to close.
 *
 * The whole structure is checked first.
 *
 * @throws PackageError with any code except `package_invalid_line` and `package_hash_mismatch`, which reading a section
 *   throws; TypeError for another kind of input; TypeError, RangeError for an invalid limit; errors of the source
 * @example
 * await using pkg = await openPackage(bytes);
 * for (const section of pkg.sections) for await (const { item } of readPackageItems(pkg, section)) use(item);
 */
export async function openPackage(archive: ArchiveInput, options: OpenOptions = {}): Promise<PackageReader> {
  return readPackage(await openArchive(openSource(archive), options.limits, () => Promise.resolve()));
}
