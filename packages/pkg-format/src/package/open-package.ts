import type { PackageLimits } from '../limits.ts';
import { type ByteSource, bytesSource } from '../zip/byte-source.ts';
import { openArchive } from './open-archive.ts';
import { type PackageReader, readPackage } from './package-reader.ts';

/** Options of `openPackage` and `openPackageFile`. */
export interface OpenOptions {
  readonly limits?: Partial<PackageLimits>;
}

/**
 * Opens a package in memory or behind any source of byte ranges; runs anywhere, browsers included. Memory does not grow
 * with the archive: its directory is held, and files are unpacked while they are read. A source stays yours to close.
 *
 * The whole structure is checked first.
 *
 * @throws PackageError with any code except `package_invalid_line` and `package_hash_mismatch`, which reading a section
 *   throws; TypeError, RangeError for an invalid limit; errors of the source
 * @example
 * await using pkg = await openPackage(bytes);
 * for (const section of pkg.sections) for await (const { item } of readPackageItems(pkg, section)) use(item);
 */
export async function openPackage(
  archive: Uint8Array | ByteSource,
  options: OpenOptions = {},
): Promise<PackageReader> {
  const source = archive instanceof Uint8Array ? bytesSource(archive) : archive;
  return readPackage(await openArchive(source, options.limits, () => Promise.resolve()));
}
