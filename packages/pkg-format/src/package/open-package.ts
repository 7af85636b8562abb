import { type LocatedItem, rehydrateItem } from '@svc/jsonl-v23';
import { parseLines, splitLines } from '@svc/jsonl-v23/lines';
import type { PackageLimits } from '../limits.ts';
import { type ArchiveInput, openSource } from '../zip/byte-source.ts';
import { openArchive } from './open-archive.ts';
import { type PackageReader, type PackageSection, readPackage } from './package-reader.ts';
import type { SignalOptions } from './package-run.ts';

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

/**
 * Reads the items of a section in order, each with its location, and embeds the files that they refer to. One batch of
 * lines is in memory at a time.
 *
 * @throws PackageError `package_invalid_line` with file, line, column and JSON Pointer; `package_limit`, also for an item
 *   that is longer than a line with its files; `package_corrupt`; for files, as `PackageReader.readFile`
 */
export async function* readPackageItems(
  pkg: PackageReader,
  section: PackageSection,
  options: SignalOptions = {},
): AsyncGenerator<LocatedItem> {
  const { file } = section;
  const { maxLineBytes, maxDepth } = pkg.limits;
  try {
    const batches = splitLines(section.bytes(options), { file, maxLineBytes, ...options });
    for await (const batch of batches) {
      for (const located of parseLines(batch, { file, maxDepth })) {
        options.signal?.throwIfAborted();
        yield await withFiles(pkg, located);
      }
    }
  } catch (error) {
    throw await pkg.explain(error, file, options);
  }
}

async function withFiles(pkg: PackageReader, { item, location }: LocatedItem): Promise<LocatedItem> {
  const whole = await rehydrateItem(
    item,
    ({ path, pointer }) => pkg.readFile(path, { ...location, path: pointer }),
    { maxItemBytes: pkg.limits.maxLineBytes, location },
  );
  return { item: whole, location };
}
