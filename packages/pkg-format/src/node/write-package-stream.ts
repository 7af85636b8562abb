import type { ExportDataset, WriteOptions } from '../write/export-dataset.ts';
import { preparePackage } from '../write/prepare-package.ts';
import { zipStream } from './zip/zip-stream.ts';

/**
 * Writes a dataset, with a run or without, as a package. Reads the dataset as fast as you read the result, and stops when
 * you stop or the signal aborts. Memory holds one batch of items. The first bytes leave at once.
 *
 * @throws errors of the dataset's functions; the signal's reason; PackageError `package_no_sections`,
 *   `package_invalid_json` for a name, `package_hash_mismatch` if the dataset changed during the write. The bytes until then are not an archive.
 * @example
 * for await (const chunk of writePackageStream(dataset, { signal })) await send(chunk);
 */
export function writePackageStream(
  dataset: ExportDataset,
  options: WriteOptions = {},
): AsyncGenerator<Uint8Array> {
  return zipStream((signal) => preparePackage(dataset, { ...options, signal }), options.signal);
}
