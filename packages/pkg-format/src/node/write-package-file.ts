import { tmpdir } from 'node:os';
import { checkNames, type PackageGenerator } from '../package/layout.ts';
import type { ExportDataset, ExportRun, WriteOptions } from '../write/export-dataset.ts';
import { type PackagePlan, preparePackage } from '../write/prepare-package.ts';
import { checkWritten } from '../write/write-package.ts';
import { openFileSource } from './file-source.ts';
import { type StreamedDataset, stageDataset } from './stage-dataset.ts';
import { createTempDir } from './temp-dir.ts';
import { writeOutput, writeWhole } from './write-output.ts';
import { createPack } from './zip/create-deflater.ts';
import { zipStream } from './zip/zip-stream.ts';

export interface WriteFileOptions {
  /** A run of the dataset, to write with it. */
  readonly run?: ExportRun | null;
  /** The program that writes the package; by default this library. */
  readonly generator?: PackageGenerator;
  /** Whether an existing file is replaced. */
  readonly force?: boolean;
  /** Stops between two items. Items that wait for something have to observe it too. */
  readonly signal?: AbortSignal;
  /** Receives the number of items that were read, some hundred at a time. */
  readonly onProgress?: (itemCount: number) => void;
}

/** What was written. */
export interface WrittenPackage {
  readonly versionHash: string;
  readonly itemCount: number;
  readonly sections: readonly { readonly name: string; readonly itemCount: number }[];
}

/**
 * Writes a package whose items are read once, such as the rows of a file. The package appears when it is complete; until
 * then a hidden folder next to it has the temporary files. Memory does not grow with the items.
 *
 * @throws as `datasetFromItems`; PackageError `package_limit` for what a reader with the default limits would refuse;
 *   errors of the items and of the file system, `EEXIST` if the file exists and `force` is not set; the signal's reason
 * @example
 * await writePackageFile('sums.pkg.zip', { name: 'Sums', sections: [{ name: 'train', items: readSums() }] });
 */
export async function writePackageFile(
  path: string,
  dataset: StreamedDataset,
  options: WriteFileOptions = {},
): Promise<WrittenPackage> {
  const { run = null, generator, force = false, signal, onProgress } = options;
  checkNames(dataset);
  return await writeOutput(path, { force }, async (temporary, tempDir) => {
    const staged = await stageDataset(dataset, tempDir, { signal, onProgress });
    let repeatedBytes = 0;
    const prepare = async (stopped: AbortSignal): Promise<PackagePlan> => {
      const written = { run, signal: stopped, ...(generator && { generator }) };
      const plan = await preparePackage(staged, written, createPack());
      repeatedBytes = plan.repeatedBytes;
      return plan;
    };
    await writeWhole(temporary, zipStream(prepare, signal));
    const archive = await openFileSource(temporary);
    await checkWritten(archive, repeatedBytes).finally(() => archive.close());
    const sections = staged.sections.map(({ name, itemCount }) => ({ name, itemCount }));
    const itemCount = sections.reduce((sum, section) => sum + section.itemCount, 0);
    return { versionHash: staged.versionHash, itemCount, sections };
  });
}

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
  const prepare = (signal: AbortSignal) => preparePackage(dataset, { ...options, signal }, createPack());
  return zipStream(prepare, options.signal);
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
  const prepare = (stopped: AbortSignal) =>
    preparePackage(staged, { ...options, signal: stopped }, createPack());
  yield* zipStream(prepare, signal);
}
