import { DEFAULT_LIMITS } from '../limits.ts';
import { MANIFEST_FILE, META_FILE } from '../package/layout.ts';
import { ByteBudget } from '../zip/byte-budget.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import { entryCeiling } from '../zip/entry-ceiling.ts';
import { readDirectory } from '../zip/read-directory.ts';

/**
 * Refuses an archive that a reader with the default limits would refuse: by the sizes in its directory, so that no entry is
 * read again.
 *
 * @throws PackageError `package_limit` with the entry
 */
export async function checkWritten(source: ByteSource): Promise<void> {
  const budget = new ByteBudget(source.byteLength, DEFAULT_LIMITS);
  for (const entry of await readDirectory(source, DEFAULT_LIMITS)) {
    const ceiling = entryCeiling(entry, DEFAULT_LIMITS, maxBytesOf(entry.name));
    if (ceiling.bytes < entry.size) throw ceiling.error();
    budget.spend(entry.size, entry.name);
  }
}

function maxBytesOf(name: string): number | undefined {
  if (name === MANIFEST_FILE || name === META_FILE) return DEFAULT_LIMITS.maxLineBytes;
  return /^(?:assets|checkers)\//.test(name) ? DEFAULT_LIMITS.maxAssetBytes : undefined;
}
