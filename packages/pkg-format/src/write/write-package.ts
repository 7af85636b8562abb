import JSZip from 'jszip';
import { PackageError } from '../errors.ts';
import { collectBytes } from '../package/open-archive.ts';
import type { ExportDataset, WriteOptions } from './export-dataset.ts';
import { preparePackage } from './prepare-package.ts';

/** package-format section 3: a fixed level. Higher ones cost a third more time and gain a few per cent. */
export const DEFLATE_LEVEL = 4;
/** An ordinary file that everyone may read. */
export const ENTRY_MODE = 0o100644;

const MAX_ENTRIES = 0xfffe;

/**
 * Writes a dataset (and a run) as a package into memory; runs anywhere. The same entries, in the same order and with the
 * same content, as `writePackageStream` of the Node entry; only the deflate data may differ.
 *
 * @throws PackageError `package_limit` for more entries than can be written without zip64; what the dataset's own
 *   functions throw; the signal's reason
 */
export async function writePackage(dataset: ExportDataset, options: WriteOptions = {}): Promise<Uint8Array> {
  const plan = await preparePackage(dataset, options);
  if (plan.entries.length > MAX_ENTRIES) {
    throw new PackageError(
      'package_limit',
      `The package has ${plan.entries.length} entries; in memory at most ${MAX_ENTRIES} are written`,
    );
  }
  const zip = new JSZip();
  for (const entry of plan.entries) {
    options.signal?.throwIfAborted();
    zip.file(entry.path, await collectBytes(plan.bytesOf(entry)), {
      binary: true,
      createFolders: false,
      // jszip writes the time in UTC.
      date: new Date(Date.UTC(1980, 0, 1)),
      unixPermissions: ENTRY_MODE,
      compression: entry.compress ? 'DEFLATE' : 'STORE',
      compressionOptions: { level: DEFLATE_LEVEL },
    });
  }
  return zip.generateAsync({ type: 'uint8array', platform: 'UNIX', streamFiles: true });
}
