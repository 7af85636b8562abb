import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import type { LineBatch } from '@svc/jsonl-v23/lines';
import {
  type LocatedResult,
  PackageError,
  type PackageRun,
  type ResultLineOptions,
  readResultLines,
} from '@svc/pkg-format';
import { createThreadPool } from '../../concurrency/index.ts';
import { type ImportedResult, MAX_TEXT_CHARS, writeResult } from '../../store/index.ts';
import { type PushedLine, type PushedLines, readPushedLines } from '../results/read-pushed.ts';
import { type ContentFailure, toContentError } from './content-failure.ts';
import { type EditsBody, readEdits } from './read-edits.ts';

export type ThreadReader = ReturnType<typeof createThreadReader>;

export type ReadTask =
  | ({ readonly kind: 'packaged' } & ResultLines)
  | ({ readonly kind: 'pushed' } & PushedLines)
  | ({ readonly kind: 'edits' } & EditsBody);

export type ReadOutcome = PackedResults | readonly PushedLine[] | JsonValue;

/** How long a task may take: reading costs about 20 ms for each MiB. */
const DEADLINE_MS = 30_000;
const THREADS = 2;
const MAX_HEAP_MB = 1_024;
/** Below this size, posting to a thread costs more than reading inline. */
const MIN_THREAD_BYTES = 32 * 1024;

/** The thread's file is next to this one, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './read-thread.ts' : './read-thread.js',
  import.meta.url,
);

/**
 * Makes a reader of lines and bodies, which takes their bytes over and does not block the event loop: its threads start when
 * long input needs them.
 *
 * Each method throws PackageError `package_limit` if reading takes too much time or memory, and the signal's reason,
 * immediately, when it is aborted.
 */
export function createThreadReader(deadlineMs: number = DEADLINE_MS) {
  const threads = createThreadPool<ReadTask, ReadOutcome, ContentFailure>(
    {
      file: THREAD_FILE,
      limitError,
      failedError: toContentError,
      transfer: (task) => [bytesOf(task).buffer],
    },
    { maxThreads: THREADS, maxHeapMb: MAX_HEAP_MB },
  );
  return {
    async readPackaged(lines: ResultLines, signal: AbortSignal): Promise<PackedResults> {
      if (lines.batch.bytes.byteLength < MIN_THREAD_BYTES) return packResults(lines);
      return (await threads.run({ kind: 'packaged', ...lines }, deadlineMs, signal)) as PackedResults;
    },
    async readPushed(lines: PushedLines, signal: AbortSignal): Promise<readonly PushedLine[]> {
      if (lines.batch.bytes.byteLength < MIN_THREAD_BYTES) return readPushedLines(lines);
      const read = await threads.run({ kind: 'pushed', ...lines }, deadlineMs, signal);
      return read as readonly PushedLine[];
    },
    async readEdits(body: EditsBody, signal: AbortSignal): Promise<JsonValue> {
      if (body.bytes.byteLength < MIN_THREAD_BYTES) return readEdits(body);
      return (await threads.run({ kind: 'edits', ...body }, deadlineMs, signal)) as JsonValue;
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}

function limitError(task: ReadTask, reason: string): PackageError {
  if (task.kind === 'edits') return new PackageError('package_limit', `Reading the edits ${reason}.`);
  const entry = 'results.jsonl';
  const location = { file: entry, line: task.batch.firstLine };
  return new PackageError('package_limit', `Reading a result ${reason}.`, { entry, location });
}

const bytesOf = (task: ReadTask): Uint8Array<ArrayBuffer> =>
  task.kind === 'edits' ? task.bytes : (task.batch.bytes as Uint8Array<ArrayBuffer>);

/** The results of a run in a package, a batch of lines at a time. @throws as `PackageRun.results` and {@link ThreadReader} */
export function readResults(
  run: PackageRun,
  reader: ThreadReader,
  sections: Parameters<PackageRun['results']>[0],
  signal: AbortSignal,
): AsyncIterable<readonly ImportedResult[]> {
  return run.resultsBy((batch, options) => reader.readPackaged({ batch, options }, signal), sections, {
    signal,
  });
}

export interface ResultLines {
  readonly batch: LineBatch;
  readonly options: ResultLineOptions;
}

/** Results as they are stored, which pass between threads. */
type PackedResults = readonly LocatedResult<Omit<ImportedResult, 'sectionOrderIndex'>>[];

/** Reads lines, and writes their values as they are stored. The result depends on the arguments alone. */
export function packResults({ batch, options }: ResultLines): PackedResults {
  return readResultLines(batch, options).map(({ result, location }) => {
    return { location, result: writeResult(result, toText) };
  });
}

/** JSON text; a long one as its bytes, which pass to another thread and to the database without a copy. */
function toText(value: JsonValue): string | Uint8Array<ArrayBuffer> {
  const text = canonicalJson(value);
  return text.length > MAX_TEXT_CHARS ? new TextEncoder().encode(text) : text;
}

export function buffersOf(results: PackedResults): ArrayBuffer[] {
  return results.flatMap(({ result }) =>
    Object.values(result).flatMap((value) =>
      value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [],
    ),
  );
}
