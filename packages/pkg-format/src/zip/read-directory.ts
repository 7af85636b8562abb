import { PackageError } from '../errors.ts';
import { MAX_DIRECTORY_BYTES, type PackageLimits } from '../limits.ts';
import { type ByteSource, windowedSource } from './byte-source.ts';
import { type DirectoryOptions, readCentralRecords, refuseEqualNames } from './central-directory.ts';
import { findDirectory } from './end-record.ts';
import { checkLocalHeaders } from './local-headers.ts';
import type { ZipEntry } from './zip-entry.ts';

/**
 * Reads and checks the whole structure of a ZIP archive (APPNOTE 6.3.10): the end record, its zip64 form, the central
 * directory, and every local header and data descriptor.
 *
 * ZIP libraries accept archives that mean different things to two of them. An archive that passes here has one meaning:
 * every byte of the file belongs to exactly one entry, the directory or the archive comment, and every name is safe and
 * unique.
 *
 * @returns the entries in directory order
 * @throws PackageError `package_not_a_zip`, `package_corrupt`, `package_unsafe_entry`, `package_unsupported`,
 *   `package_limit`
 */
export async function readDirectory(
  source: ByteSource,
  limits: PackageLimits,
  options: DirectoryOptions = {},
): Promise<ZipEntry[]> {
  const bounds = await findDirectory(source);
  if (bounds.entryCount > limits.maxEntries) {
    const message = `The archive must have at most ${limits.maxEntries} entries, got ${bounds.entryCount}.`;
    throw new PackageError('package_limit', message);
  }
  const directoryBytes = bounds.end - bounds.start;
  if (directoryBytes > MAX_DIRECTORY_BYTES) {
    const message = `The archive's directory must have at most ${MAX_DIRECTORY_BYTES} bytes, got ${directoryBytes}.`;
    throw new PackageError('package_limit', message);
  }
  const window = windowedSource(source);
  const records = await readCentralRecords(window, bounds, options);
  refuseEqualNames(records, options.allowsZstd === true);
  const dataStarts = await checkLocalHeaders(window, records, bounds.start);
  return records.map((record, index) => {
    const { name, isDirectory, method, compressedSize, size, crc32, headerStart } = record;
    const dataStart = dataStarts[index] ?? 0;
    return { name, isDirectory, method, compressedSize, size, crc32, headerStart, dataStart };
  });
}
