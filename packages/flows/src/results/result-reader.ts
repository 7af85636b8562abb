import { createThreadPool } from '@svc/concurrency';
import { PackageError, type PackageRun } from '@svc/pkg-format';
import type { ImportedResult } from '@svc/store';
import {
  type LineFailure,
  type PackedResults,
  packResults,
  type ResultLines,
  toLineError,
} from './pack-results.ts';
import { type PushedLine, type PushedLines, readPushedLines } from './read-pushed.ts';

/** Reads the results of uploaded runs without blocking the event loop. */
export interface ResultReader extends AsyncDisposable {
  /**
   * Reads lines, and takes their bytes over: another thread may own them when this returns.
   *
   * @throws JsonlError and PackageError as `readResultLines`; PackageError `package_limit` if reading takes too much time
   * or memory; the signal's reason, immediately, when it is aborted
   */
  read(lines: ResultLines, signal: AbortSignal): Promise<PackedResults>;
  /**
   * Reads lines that a client sends, see `readPushedLines`, and takes their bytes over.
   *
   * @throws PackageError `package_limit` and the signal's reason, as `read`
   */
  readPushed(lines: PushedLines, signal: AbortSignal): Promise<readonly PushedLine[]>;
}

/** A batch for a thread. */
export type ReadTask =
  | ({ readonly kind: 'packaged' } & ResultLines)
  | ({ readonly kind: 'pushed' } & PushedLines);

/** How long a batch may take: reading costs about 20 ms for each MiB. */
const DEADLINE_MS = 30_000;
const THREADS = 2;
const MAX_HEAP_MB = 1_024;
/** Below this size, posting to a thread costs more than reading inline. */
const MIN_THREAD_BYTES = 32 * 1024;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './result-thread.ts' : './result-thread.js',
  import.meta.url,
);

/** Makes a reader. Its threads start when large batches need them. @param deadlineMs of a batch, 30 s by default */
export function createResultReader(deadlineMs: number = DEADLINE_MS): ResultReader {
  const threads = createThreadPool<ReadTask, PackedResults | readonly PushedLine[], LineFailure>(
    {
      file: THREAD_FILE,
      limitError: ({ batch }, reason) =>
        new PackageError('package_limit', `Reading a result ${reason}.`, {
          entry: 'results.jsonl',
          location: { file: 'results.jsonl', line: batch.firstLine },
        }),
      failedError: toLineError,
      transfer: ({ batch }) => [batch.bytes.buffer as ArrayBuffer],
    },
    { maxThreads: THREADS, maxHeapMb: MAX_HEAP_MB },
  );
  return {
    async read(lines, signal) {
      if (lines.batch.bytes.byteLength < MIN_THREAD_BYTES) return packResults(lines);
      return (await threads.run({ kind: 'packaged', ...lines }, deadlineMs, signal)) as PackedResults;
    },
    async readPushed(lines, signal) {
      if (lines.batch.bytes.byteLength < MIN_THREAD_BYTES) return readPushedLines(lines);
      const read = await threads.run({ kind: 'pushed', ...lines }, deadlineMs, signal);
      return read as readonly PushedLine[];
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}

/** The results of a run in a package, a batch of lines at a time. @throws as `PackageRun.results` and {@link ResultReader} */
export function readResults(
  run: PackageRun,
  reader: ResultReader,
  sections: Parameters<PackageRun['results']>[0],
  signal: AbortSignal,
): AsyncIterable<readonly ImportedResult[]> {
  return run.resultsBy((batch, options) => reader.read({ batch, options }, signal), sections, { signal });
}
