import { tmpdir } from 'node:os';
import type { ExportDataset, WriteOptions } from '../write/export-dataset.ts';
import { preparePackage } from '../write/prepare-package.ts';
import { type StreamedDataset, stageDataset } from './stage-dataset.ts';
import { createTempDir } from './temp-dir.ts';
import { createPack } from './zip/keep-packed.ts';
import { zipStream } from './zip/zip-stream.ts';

export interface WriteStreamOptions extends WriteOptions {
  /** Receives the number of items that were read, some hundred at a time; only for items that are read once. */
  readonly onProgress?: (itemCount: number) => void;
}

/**
 * Writes a dataset, with a run or without, as a package. Reads the dataset as fast as you read the result, and stops when
 * you stop or the signal aborts. The first bytes leave immediately, and memory holds one batch of items.
 *
 * Items that are read once, as `writePackageFile` takes them, go into a folder of the system's temporary files first,
 * because a package begins with their counts and hashes.
 *
 * @throws errors of the dataset's functions, or of the items and the file system; the signal's reason; PackageError
 *   `package_no_sections`, `package_invalid_json` for a name, `package_hash_mismatch` if the dataset changed during the
 *   write; as `datasetFromItems` for an item. The bytes until then are not an archive.
 * @example
 * for await (const chunk of writePackageStream(dataset, { signal })) await send(chunk);
 */
export function writePackageStream(
  dataset: ExportDataset | StreamedDataset,
  options: WriteStreamOptions = {},
): AsyncGenerator<Uint8Array> {
  if (!isStored(dataset)) return writeStaged(dataset, options);
  return zipStream(
    (signal) => preparePackage(dataset, { ...options, pack: createPack(), signal }),
    options.signal,
  );
}

/** Only a dataset that was read before knows its hash. */
const isStored = (dataset: ExportDataset | StreamedDataset): dataset is ExportDataset =>
  'versionHash' in dataset;

async function* writeStaged(
  dataset: StreamedDataset,
  { signal, onProgress, ...options }: WriteStreamOptions,
): AsyncGenerator<Uint8Array> {
  await using tempDir = await createTempDir(tmpdir());
  const staged = await stageDataset(dataset, tempDir, { signal, onProgress });
  yield* zipStream(
    (stopped) => preparePackage(staged, { ...options, pack: createPack(), signal: stopped }),
    signal,
  );
}
