import type { ExportDataset, WriteOptions } from '../write/export-dataset.ts';
import { preparePackage } from '../write/prepare-package.ts';
import { zipStream } from './zip-stream.ts';

/**
 * Writes a dataset (and a run) as a package, as fast as it is read and no faster; memory is bounded by a batch of items.
 * The first bytes leave at once. A reader that stops, or the signal, ends the reading of the dataset.
 *
 * @throws what the dataset's own functions throw; the signal's reason; PackageError `package_hash_mismatch` where the
 *   dataset changed meanwhile. What came out until then is no archive.
 * @example
 * for await (const chunk of writePackageStream(dataset, { signal })) await send(chunk);
 */
export function writePackageStream(
  dataset: ExportDataset,
  options: WriteOptions = {},
): AsyncGenerator<Uint8Array> {
  return zipStream((signal) => preparePackage(dataset, { ...options, signal }), options.signal);
}
