import type { OwnBytes } from '@svc/jsonl-v23/bytes';
import { PackageError } from '../errors.ts';
import { DEFAULT_LIMITS, MAX_WRITTEN_EXPANSION, UNPADDED_BYTES } from '../limits.ts';
import { MANIFEST_FILE, META_FILE } from '../package/layout.ts';
import { ByteBudget, entryCeiling } from '../package/open-archive.ts';
import { type ByteSource, bytesSource, collectBytes } from '../zip/byte-source.ts';
import { readDirectory } from '../zip/read-directory.ts';
import type { ExportDataset, WriteOptions } from './export-dataset.ts';
import type { PlannedEntry } from './plan-package.ts';
import { preparePackage } from './prepare-package.ts';

/** package-format section 3: a fixed level. Higher ones take a third more time and save a few per cent. */
export const DEFLATE_LEVEL = 4;
/** A regular file that everyone may read. */
export const ENTRY_MODE = 0o100644;

const MAX_ENTRIES = 0xfffe;

/**
 * Writes a dataset, with a run or without, as a package in memory. Runs anywhere. The entries, their order and their
 * content are as in `writePackageStream`; the deflate data may differ.
 *
 * @throws PackageError `package_no_sections`, `package_invalid_json` for a name, `package_limit` for more entries than an
 *   archive without zip64 can have and for what a reader with the default limits would refuse; errors of the dataset's
 *   functions; the signal's reason
 */
export async function writePackage(dataset: ExportDataset, options: WriteOptions = {}): Promise<OwnBytes> {
  const plan = await preparePackage(dataset, options);
  const entries = [...plan.entries];
  if (entries.length > MAX_ENTRIES) {
    const message = `A package in memory must have at most ${MAX_ENTRIES} entries, got ${entries.length}.`;
    throw new PackageError('package_limit', message);
  }
  // Loaded when it is needed: it is most of a bundle that only reads.
  const { default: JSZip } = await import('jszip');
  const zip = new JSZip();
  const write = async (entry: PlannedEntry, compress: boolean): Promise<void> => {
    options.signal?.throwIfAborted();
    const bytes = plan.bytesOf(entry);
    zip.file(entry.path, bytes instanceof Uint8Array ? bytes : await collectBytes(bytes), {
      binary: true,
      createFolders: false,
      // jszip writes times in UTC.
      date: new Date(Date.UTC(1980, 0, 1)),
      unixPermissions: ENTRY_MODE,
      compression: compress ? 'DEFLATE' : 'STORE',
      compressionOptions: { level: DEFLATE_LEVEL },
    });
  };
  const generate = async (): Promise<OwnBytes> =>
    (await zip.generateAsync({ type: 'uint8array', platform: 'UNIX', streamFiles: true })) as OwnBytes;
  for (const entry of entries) await write(entry, entry.compress);
  let bytes = await generate();
  const expanding = new Set<string>();
  for (const { name, size, compressedSize } of await readDirectory(bytesSource(bytes), DEFAULT_LIMITS)) {
    if (size > UNPADDED_BYTES && size > compressedSize * MAX_WRITTEN_EXPANSION) expanding.add(name);
  }
  if (expanding.size > 0) {
    // A reader refuses archives that expand too much.
    for (const entry of entries) if (expanding.has(entry.path)) await write(entry, false);
    bytes = await generate();
  }
  await checkWritten(bytesSource(bytes), plan.repeatedBytes);
  return bytes;
}

/** Refuses what readers with the default limits would refuse, by the sizes in the directory: no entry is read again. */
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
