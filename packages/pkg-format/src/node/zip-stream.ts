import { type PassThrough, Readable } from 'node:stream';
import yazl from 'yazl';
import { MANIFEST_FILE } from '../package/layout.ts';
import type { PackagePlan } from '../write/prepare-package.ts';
import { DEFLATE_LEVEL, ENTRY_MODE } from '../write/write-package.ts';

/**
 * Writes a plan as an archive, as fast as the result is read. The first bytes leave before the plan exists: `prepare` runs
 * while the content of the first entry is being read.
 *
 * Stopping early, or the signal, aborts the signal of `prepare` and closes all sources.
 */
export async function* zipStream(
  prepare: (signal: AbortSignal) => Promise<PackagePlan>,
  callerSignal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stopped = new AbortController();
  const signal = callerSignal ? AbortSignal.any([callerSignal, stopped.signal]) : stopped.signal;
  const zip = new yazl.ZipFile();
  const output = zip.outputStream as PassThrough;
  const sources = new Set<Readable>();
  const fail = (error: unknown) => output.destroy(error as Error);
  // Errors after the output has closed were reported already.
  output.on('error', () => {});
  zip.on('error', fail);
  signal.addEventListener('abort', () => fail(signal.reason), { once: true });

  const add = (path: string, compress: boolean, bytes: () => AsyncIterable<Uint8Array>): void => {
    zip.addReadStreamLazy(path, entryOptions(compress), (give) => {
      // Data in flight when reading stopped may still make yazl open the next entry.
      if (signal.aborted) return give(signal.reason, new Readable());
      const source = Readable.from(bytes(), { objectMode: false });
      sources.add(source);
      source.on('error', fail);
      source.on('close', () => sources.delete(source));
      give(null, source);
    });
  };
  add(MANIFEST_FILE, true, async function* () {
    const plan = await prepare(signal);
    const [manifest, ...entries] = plan.entries;
    for (const entry of entries) add(entry.path, entry.compress, () => plan.bytesOf(entry));
    zip.end();
    if (manifest) yield* plan.bytesOf(manifest);
  });

  try {
    signal.throwIfAborted();
    for await (const chunk of output) yield chunk;
  } finally {
    stopped.abort();
    await Promise.all([...sources].map(close));
  }
}

/** Closes a source and waits until its iterators are closed. */
function close(source: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (source.closed) resolve();
    else source.once('close', resolve);
    source.destroy();
  });
}

/**
 * The same in every time zone: DOS times are local times, whose zero is 1 January 1980. The Unix time field, which would
 * differ, is left out.
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
