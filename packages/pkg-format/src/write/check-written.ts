import { PackageError } from '../errors.ts';
import { DEFAULT_LIMITS } from '../limits.ts';
import { MANIFEST_FILE, META_FILE } from '../package/layout.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import { readDirectory } from '../zip/read-directory.ts';
import { ByteBudget, entryCeiling } from '../zip/read-entry.ts';

/**
 * Refuses an archive that a reader with the default limits would refuse: by the sizes in its directory, so that no entry is
 * read again.
 *
 * @param repeatedBytes that a reader returns again, of files with several references
 * @throws PackageError `package_limit` with the entry
 */
export async function checkWritten(source: ByteSource, repeatedBytes: number): Promise<void> {
  const { maxTotalBytes } = DEFAULT_LIMITS;
  const budget = new ByteBudget(source.byteLength, DEFAULT_LIMITS);
  let totalBytes = repeatedBytes;
  for (const entry of await readDirectory(source, DEFAULT_LIMITS)) {
    const ceiling = entryCeiling(entry, DEFAULT_LIMITS, maxBytesOf(entry.name));
    if (ceiling.bytes < entry.size) throw ceiling.error();
    budget.spend(entry.name, 0, entry.size);
    totalBytes += entry.size;
  }
  if (totalBytes <= maxTotalBytes) return;
  const message = `The archive must have at most ${maxTotalBytes} uncompressed bytes, with its files counted once for each reference, got ${totalBytes}.`;
  throw new PackageError('package_limit', message);
}

function maxBytesOf(name: string): number | undefined {
  if (name === MANIFEST_FILE || name === META_FILE) return DEFAULT_LIMITS.maxLineBytes;
  return /^(?:assets|checkers)\//.test(name) ? DEFAULT_LIMITS.maxAssetBytes : undefined;
}
