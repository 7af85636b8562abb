import { createThreadPool, type ThreadPool, type ThreadPoolOptions } from '@svc/concurrency';
import type { LineBatch } from '@svc/jsonl-v23/internal';
import type { EmbeddedContent } from '../../assets/link/link-item.ts';
import { createBatchEncoder } from './encode-batch.ts';
import { BufferPool, type RowTarget } from './encode-rows.ts';
import { ENCODE_TASKS, type EncodeOutcome, type EncodeTask } from './encode-task.ts';
import {
  distinctFiles,
  type EncodedRows,
  type FilledLines,
  type FilledRows,
  type LineOptions,
  type NeedsFiles,
} from './encoded-rows.ts';
import type { Failure } from './row-failures.ts';

/** Parses, validates, canonicalises, hashes and encodes batches, in the calling thread or on worker threads. */
export interface RowEncoder extends AsyncDisposable {
  /** Maximum number of batches in progress: 1 without threads. */
  readonly parallelism: number;
  /** Maximum size of the items that a batch of rows becomes, unless it is one item. */
  readonly maxBatchBytes: number;
  /** Encodes a batch and takes its bytes over: another thread may own them when this returns. */
  encodeLines(batch: LineBatch, target: RowTarget, options: LineOptions): Promise<EncodedRows | NeedsFiles>;
  /** Encodes lines with their files; the contents stay the caller's. */
  encodeFilled(lines: FilledLines, target: RowTarget, options: LineOptions): Promise<EncodedRows>;
  /** Takes back the buffers of a batch that is stored and counted, for the next one. */
  recycle(encoded: EncodedRows): void;
}

/** Below this size, posting to a thread costs more than encoding inline. */
const MIN_THREAD_BYTES = 64 * 1024;
/** What a batch of rows may become: memory holds some batches at a time. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** The same in the calling thread, which serves others in between. */
const MAX_INLINE_BATCH_BYTES = 256 * 1024;
/** From this size on a batch counts as large: as values, and as text once more, it takes several times its size. */
const LARGE_BYTES = 2 * 1024 * 1024;
/** A thread keeps the memory that a large batch took, so it ends when it has been idle for this long. */
const LARGE_IDLE_MS = 250;
/** Encoding takes milliseconds, so each thread holds a second batch. */
const BATCHES_PER_THREAD = 2;

/**
 * Makes an encoder that works on up to `threadCount` threads, or in the calling thread with 0. The results are the same, but
 * that only threads make profiles.
 *
 * An error of a batch is the same error, a `JsonlError` with its location; a thread that dies fails the batches that it
 * holds. Disposing ends the threads immediately.
 */
export function createRowEncoder({
  threads: threadCount = 0,
}: {
  readonly threads?: number;
} = {}): RowEncoder {
  const pool = new BufferPool();
  const inline = createBatchEncoder(pool);
  const threads = threadCount > 0 ? createEncoderThreads(threadCount) : null;

  return {
    parallelism: threads === null ? 1 : threadCount * BATCHES_PER_THREAD,
    maxBatchBytes: threads === null ? MAX_INLINE_BATCH_BYTES : MAX_BATCH_BYTES,
    async encodeLines(batch, target, options) {
      if (threads === null || batch.bytes.byteLength < MIN_THREAD_BYTES) {
        return inline.encodeLines(batch, target, options);
      }
      const work = { kind: 'lines', batch, options } as const;
      return await threads.run({ work, target, spare: pool.drain() }, batch.bytes.byteLength);
    },
    async encodeFilled(lines, target, options) {
      if (threads === null || lines.itemBytes < MIN_THREAD_BYTES) {
        return inline.encodeFilled(lines, target, options);
      }
      const { copied, files } = copyContents(lines);
      const work = { kind: 'filled', lines: copied, options } as const;
      const reply = await threads.run({ work, target, spare: pool.drain() }, lines.itemBytes);
      const { fileIndexes, ...rows } = reply as FilledRows;
      return {
        ...rows,
        contents: rows.contents.map((one, index) => withFile(one, files, fileIndexes[index])),
      };
    },
    recycle({ rows, lines }) {
      pool.release(rows.buffer as ArrayBuffer);
      if (lines !== null) pool.release(lines.buffer as ArrayBuffer);
    },
    async [Symbol.asyncDispose]() {
      await threads?.[Symbol.asyncDispose]();
    },
  };
}

/** Threads that encode batches; large ones, which take several times their size, one after another on a separate thread. */
interface EncoderThreads extends AsyncDisposable {
  run(task: EncodeTask, byteLength: number): Promise<EncodeOutcome>;
}

function createEncoderThreads(maxThreads: number): EncoderThreads {
  const threads = startPool({ maxThreads, tasksPerThread: BATCHES_PER_THREAD });
  const largeThread = startPool({ maxThreads: 1, maxIdleMs: LARGE_IDLE_MS });
  return {
    run: (task, byteLength) => (byteLength < LARGE_BYTES ? threads : largeThread).run(task),
    async [Symbol.asyncDispose]() {
      await Promise.all([threads, largeThread].map((pool) => pool[Symbol.asyncDispose]()));
    },
  };
}

function startPool(options: ThreadPoolOptions): ThreadPool<EncodeTask, EncodeOutcome> {
  return createThreadPool<EncodeTask, EncodeOutcome, Failure>(ENCODE_TASKS, options);
}

/** A content with the bytes of the caller's file in place of the thread's copy, which is gone. */
function withFile(
  content: EmbeddedContent,
  files: readonly Uint8Array[],
  index: number | null | undefined,
): EmbeddedContent {
  const file = index === null || index === undefined ? undefined : files[index];
  return file === undefined ? content : { ...content, bytes: file };
}

/**
 * Copies of the contents, which a thread may own; the caller needs its own for the next items. All of them are in one
 * buffer: allocating and passing on one for each file would cost more than encoding small ones.
 */
function copyContents({ batch, contents, itemBytes }: FilledLines): {
  readonly copied: FilledLines;
  /** The files themselves. */
  readonly files: readonly Uint8Array[];
} {
  // A file that many entries refer to is copied once.
  const files = distinctFiles(contents);
  let byteLength = 0;
  for (const file of files) byteLength += file.byteLength;
  const buffer = Buffer.allocUnsafeSlow(byteLength).buffer;
  const copies = new Map<Uint8Array, Uint8Array>();
  let at = 0;
  for (const file of files) {
    const copy = new Uint8Array(buffer, at, file.byteLength);
    copy.set(file);
    copies.set(file, copy);
    at += file.byteLength;
  }
  const bytes = new Uint8Array(batch.bytes);
  const copied = {
    batch: { ...batch, bytes },
    contents: contents.map((files) => files.map((file) => copies.get(file) as Uint8Array)),
    itemBytes,
  };
  return { copied, files };
}
