import { randomUUID } from 'node:crypto';
import { JsonlError } from '@svc/jsonl-v23';
import { DEFAULT_MAX_DEPTH } from '@svc/jsonl-v23/json';
import type { LineBatch } from '@svc/jsonl-v23/lines';
import {
  createThreadPool,
  mapOrdered,
  type ThreadPoolOptions,
  type ThreadTasks,
} from '../../../concurrency/index.ts';
import { RUN_ITEMS } from '../../items/hash-blocks.ts';
import type { ItemRange } from '../../versions/ranges.ts';
import {
  BufferPool,
  buffers,
  countedRows,
  createBatchEncoder,
  type EncodedRows,
  type EncodeTask,
  type Failure,
  FaultList,
  type FilledLines,
  type LineOptions,
  MAX_ROW_FAILURES,
  type MappingPlan,
  mergeFailures,
  type NeedsFiles,
  onlyInPackages,
  type RowFailures,
  type RowTarget,
  toError,
  toFailure,
} from './encode-rows.ts';
import { encodeWithFiles, type ItemFileSource } from './encode-with-files.ts';
import { rowsToLines, type TableRows } from './rows-to-lines.ts';

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

/** Parses, validates, canonicalises, hashes and encodes batches, in the calling thread or on worker threads. */
export type RowEncoder = ReturnType<typeof createRowEncoder>;

/**
 * Makes an encoder that works on up to `threadCount` threads, or in the calling thread with 0. The results are the same, but
 * that only threads make profiles.
 *
 * An error of a batch is the same error, a `JsonlError` with its location; a thread that dies fails the batches that it
 * holds. Disposing ends the threads immediately.
 */
export function createRowEncoder({ threads: threadCount = 0 }: { readonly threads?: number } = {}) {
  const pool = new BufferPool();
  const inline = createBatchEncoder(pool);
  const threads =
    threadCount === 0
      ? null
      : {
          usual: startPool({ maxThreads: threadCount, tasksPerThread: BATCHES_PER_THREAD }),
          // One after another: each takes several times its size.
          large: startPool({ maxThreads: 1, maxIdleMs: LARGE_IDLE_MS }),
        };

  return {
    /** Maximum number of batches in progress: 1 without threads. */
    parallelism: threads === null ? 1 : threadCount * BATCHES_PER_THREAD,
    /** Maximum size of the items that a batch of rows becomes, unless it is one item. */
    maxBatchBytes: threads === null ? MAX_INLINE_BATCH_BYTES : MAX_BATCH_BYTES,
    /** Encodes a batch and takes its bytes over: another thread may own them when this returns. */
    async encodeLines(
      batch: LineBatch,
      target: RowTarget,
      options: LineOptions,
    ): Promise<EncodedRows | NeedsFiles> {
      const { byteLength } = batch.bytes;
      if (threads === null || byteLength < MIN_THREAD_BYTES)
        return inline.encodeLines(batch, target, options);
      const task = { batch, contents: null, target, options, spare: pool.drain() };
      return await threads[byteLength < LARGE_BYTES ? 'usual' : 'large'].run(task);
    },
    /** Encodes lines with their files; the contents stay the caller's. */
    async encodeFilled(lines: FilledLines, target: RowTarget, options: LineOptions): Promise<EncodedRows> {
      const { itemBytes } = lines;
      if (threads === null || itemBytes < MIN_THREAD_BYTES)
        return inline.encodeFilled(lines, target, options);
      const task = { ...copyLines(lines), target, options, spare: pool.drain() };
      return (await threads[itemBytes < LARGE_BYTES ? 'usual' : 'large'].run(task)) as EncodedRows;
    },
    /** Takes back the buffers of a batch that is stored and counted, for the next one. */
    recycle({ rows, lines }: EncodedRows): void {
      pool.release(rows.buffer as ArrayBuffer);
      if (lines !== null) pool.release(lines.buffer as ArrayBuffer);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([threads?.usual, threads?.large].map((pool) => pool?.[Symbol.asyncDispose]()));
    },
  };
}

/** The tasks of `encode-thread.ts`, which is next to this file, compiled or not. */
const ENCODE_TASKS: ThreadTasks<EncodeTask, Failure> = {
  file: new URL(
    import.meta.url.endsWith('.ts') ? './encode-thread.ts' : './encode-thread.js',
    import.meta.url,
  ),
  limitError: (_, reason) => new Error(`Encoding a batch of items ${reason}.`),
  failedError: toError,
  transfer: ({ batch, contents, spare }) => [...buffers([batch.bytes, ...(contents ?? []).flat()]), ...spare],
};

const startPool = (options: ThreadPoolOptions) =>
  createThreadPool<EncodeTask, EncodedRows | NeedsFiles, Failure>(ENCODE_TASKS, options);

/**
 * Copies of lines and of their files, which a thread may own; the caller needs its own for the next items. All files are in
 * one buffer: allocating and passing on one for each file would cost more than encoding small ones.
 */
function copyLines({ batch, contents }: FilledLines): Pick<FilledLines, 'batch' | 'contents'> {
  const files = new Set(contents.flat());
  const { buffer } = Buffer.allocUnsafeSlow([...files].reduce((sum, { byteLength }) => sum + byteLength, 0));
  const copies = new Map<Uint8Array, Uint8Array>();
  let at = 0;
  for (const file of files) {
    const copy = new Uint8Array(buffer, at, file.byteLength);
    copy.set(file);
    copies.set(file, copy);
    at += file.byteLength;
  }
  return {
    batch: { ...batch, bytes: new Uint8Array(batch.bytes) },
    contents: contents.map((files) => files.map((file) => copies.get(file) as Uint8Array)),
  };
}

export interface EncodedBatch {
  readonly encoded: EncodedRows;
  readonly bytes: number;
}

interface EncodeLinesOptions extends LineOptions {
  readonly files?: ItemFileSource | undefined;
  /** Whether lines are only checked, and files not read, as after a faulty line. */
  readonly checksOnly: boolean;
}

/** Encodes lines in order, several batches at a time, with `files` up to the first fault; faults become failures. */
export async function* encodeLines(
  encoder: RowEncoder,
  parts: SectionParts,
  batches: AsyncIterable<LineBatch>,
  options: EncodeLinesOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedBatch> {
  const { files, checksOnly, ...lineOptions } = options;
  let isFaulty = checksOnly;
  const results = mapOrdered(batches, encoder.parallelism, async (batch) => {
    const target = parts.place(batch.itemCount);
    const bytes = batch.bytes.byteLength;
    return { target, bytes, result: await encoder.encodeLines(batch, target, lineOptions) };
  });
  for await (const { target, bytes, result } of results) {
    if (!needsFiles(result)) {
      isFaulty ||= result.failures !== null;
      yield { encoded: result, bytes };
      continue;
    }
    const failures = await missingFiles(result, files, lineOptions);
    isFaulty ||= failures !== null;
    if (isFaulty || files === undefined) {
      yield { encoded: countedRows(result.items.length, failures), bytes };
      continue;
    }
    let rest = bytes;
    let itemsLeft = result.items.length;
    try {
      for await (const encoded of encodeWithFiles(encoder, result, target, lineOptions, files, signal)) {
        yield { encoded, bytes: rest };
        rest = 0;
        itemsLeft -= encoded.itemCount;
      }
    } catch (error) {
      // An item that is too large with its files.
      if (!(error instanceof JsonlError)) throw error;
      isFaulty = true;
      const failures = { first: [toFailure(error)], total: 1 };
      yield { encoded: countedRows(itemsLeft - 1, failures), bytes: rest };
    }
  }
}

/** Encodes the items of rows in order, several batches concurrently: as lines, see `rowsToLines`. */
export async function* encodeRows(
  encoder: RowEncoder,
  parts: SectionParts,
  batches: AsyncIterable<TableRows>,
  plan: MappingPlan,
): AsyncGenerator<EncodedBatch> {
  const options = { file: '', maxDepth: DEFAULT_MAX_DEPTH, maxLineBytes: plan.maxItemBytes };
  const lines = rowsToLines(batches, plan, encoder.maxBatchBytes);
  // One batch more: to make its lines takes the calling thread as long as the server takes to store another one.
  const results = mapOrdered(lines, encoder.parallelism + 1, async ({ batch, failures }) => {
    if (batch.itemCount === 0) return countedRows(0, failures);
    const target = parts.place(batch.itemCount);
    const encoded = await encoder.encodeLines(batch, target, options);
    if (needsFiles(encoded) || encoded.failures !== null)
      throw new Error('The line of a mapped item could not be read.');
    return { ...encoded, failures };
  });
  for await (const encoded of results) yield { encoded, bytes: encoded.rows.byteLength };
}

const needsFiles = (result: EncodedRows | NeedsFiles): result is NeedsFiles => 'needsFiles' in result;

/** The failures of a batch, with one for each reference to a file that is missing. */
async function missingFiles(
  { items, failures }: NeedsFiles,
  files: ItemFileSource | undefined,
  { file }: LineOptions,
): Promise<RowFailures | null> {
  const counter = new FaultList();
  const references = items.flatMap((item) => item.references);
  const problems =
    files === undefined
      ? references.map(({ path, pointer }) => onlyInPackages(path, pointer))
      : await files.problems(references);
  let total = 0;
  let index = 0;
  for (const { line, references } of items) {
    for (const { pointer, link } of references) {
      const problem = problems[index++] ?? null;
      if (problem === null) continue;
      total += 1;
      // To make an error costs more than to count it.
      const isKept = total <= MAX_ROW_FAILURES;
      const path = link === undefined ? pointer : `${pointer}/url`;
      counter.addError(isKept ? new JsonlError('missing_file', problem, { file, line, path }) : null);
    }
  }
  return mergeFailures(failures, counter.failures);
}

/** Items of a part: as many as one run of hash blocks has. */
const PART_ITEMS = RUN_ITEMS;

/** The parts in which the items of a section are stored: a long one has many, so that they are on all nodes of a cluster. */
export class SectionParts {
  readonly #parts: { readonly partId: string; count: number }[] = [];

  /** Where the next items go. @param count how many they are */
  place(count: number): RowTarget {
    let last = this.#parts.at(-1);
    if (last === undefined || (last.count > 0 && last.count + count > PART_ITEMS)) {
      last = { partId: randomUUID(), count: 0 };
      this.#parts.push(last);
    }
    const target = { partId: last.partId, firstOrdinal: last.count };
    last.count += count;
    return target;
  }

  get ranges(): readonly ItemRange[] {
    return this.#parts
      .filter(({ count }) => count > 0)
      .map(({ partId, count }) => ({ partId, first: 0, count }));
  }
}
