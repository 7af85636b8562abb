import type { PackageLimits } from '../limits.ts';
import { bytesSource } from '../zip/byte-source.ts';
import { portableByteTools } from '../zip/byte-tools.ts';
import { inflateInMemory } from '../zip/inflate-in-memory.ts';
import { type Archive, openArchive } from './open-archive.ts';
import { type PackageReader, readPackage } from './package-reader.ts';

export interface OpenOptions {
  limits?: Partial<PackageLimits>;
}

/**
 * Opens a package whose bytes are in memory; runs anywhere, browsers included.
 *
 * The whole structure is checked first; files are unpacked one at a time, when they are read.
 *
 * @throws PackageError with any of its codes but `package_invalid_line` and `package_hash_mismatch`, which come while
 *   sections are read
 * @example
 * await using pkg = await openPackage(bytes);
 * for (const section of pkg.sections) for await (const { item } of readPackageItems(pkg, section)) use(item);
 */
export async function openPackage(bytes: Uint8Array, options: OpenOptions = {}): Promise<PackageReader> {
  return readPackage(await openArchiveBytes(bytes, options.limits));
}

function openArchiveBytes(bytes: Uint8Array, limits?: Partial<PackageLimits>): Promise<Archive> {
  return openArchive(
    {
      source: bytesSource(bytes),
      inflate: (entry, ceiling, signal) => inflateInMemory(bytes, entry, ceiling, signal),
      tools: portableByteTools,
      close: () => Promise.resolve(),
    },
    limits,
  );
}
