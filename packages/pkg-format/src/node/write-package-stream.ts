import { type PassThrough, Readable } from 'node:stream';
import yazl from 'yazl';
import type { ExportDataset, WriteOptions } from '../export-dataset.ts';
import { MANIFEST_FILE } from '../layout.ts';
import { type PackagePlan, preparePackage } from '../planned-bytes.ts';
import { DEFLATE_LEVEL, ENTRY_MODE } from '../write-package.ts';
import { nodeByteTools } from './byte-tools.ts';

/**
 * Writes a dataset (and a run) as a package, as fast as it is read and no faster; memory is bounded by a batch of items.
 * The first bytes leave at once. A reader that stops, or the signal, ends the reading of the dataset.
 *
 * @throws what the dataset's own functions throw; the signal's reason; PackageError `package_hash_mismatch` where the
 *   dataset changed meanwhile. What came out until then is no archive.
 * @example
 * for await (const chunk of writePackageStream(dataset, { signal })) await send(chunk);
 */
export async function* writePackageStream(
  dataset: ExportDataset,
  options: WriteOptions = {},
): AsyncGenerator<Uint8Array> {
  const stopped = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
  const zip = new yazl.ZipFile();
  const output = zip.outputStream as PassThrough;
  const sources = new Set<Readable>();
  const fail = (error: unknown) => output.destroy(error as Error);
  // What fails after the output was closed has been said already.
  output.on('error', () => {});
  zip.on('error', fail);
  signal.addEventListener('abort', () => fail(signal.reason), { once: true });

  const add = (path: string, compress: boolean, bytes: () => AsyncIterable<Uint8Array>): void => {
    zip.addReadStreamLazy(path, entryOptions(compress), (give) => {
      // What was on its way when reading stopped may still make yazl go on to the next entry.
      if (signal.aborted) return give(signal.reason, new Readable());
      const source = Readable.from(bytes(), { objectMode: false });
      sources.add(source);
      source.on('error', fail);
      source.on('close', () => sources.delete(source));
      give(null, source);
    });
  };
  const addRest = (plan: PackagePlan): void => {
    for (const entry of plan.entries.slice(1)) add(entry.path, entry.compress, () => plan.bytesOf(entry));
    zip.end();
  };
  add(MANIFEST_FILE, true, async function* () {
    const plan = await preparePackage(dataset, { ...options, signal }, nodeByteTools);
    addRest(plan);
    yield* plan.bytesOf(plan.entries[0]!);
  });

  try {
    signal.throwIfAborted();
    for await (const chunk of output) yield chunk;
  } finally {
    stopped.abort();
    await Promise.all([...sources].map(close));
  }
}

/** Ends a source; done when the dataset's own iterators are closed. */
function close(source: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (source.closed) resolve();
    else source.once('close', resolve);
    source.destroy();
  });
}

/**
 * The same in every time zone: DOS times are written in local time, and 1 January 1980 is their zero. The Unix time
 * field, which would differ, is left out.
 */
function entryOptions(compress: boolean) {
  return {
    mtime: new Date(1980, 0, 1),
    forceDosTimestamp: true,
    mode: ENTRY_MODE,
    compress,
    compressionLevel: compress ? DEFLATE_LEVEL : 0,
  };
}
