import type { EncodedRows, FilledLines, NeedsFiles, RowEncoder, RowPlan } from '@svc/flows';
import { BufferPool } from './buffer-pool.ts';
import { createBatchEncoder } from './encode-batch.ts';
import type { EncodeWork } from './encode-message.ts';
import type { RowTarget } from './encode-rows.ts';
import { type EncoderThreads, startEncoderThreads } from './encoder-threads.ts';

export interface RowEncoderOptions {
  /** threads at most; 0 does all work in the calling thread */
  readonly threads?: number;
}

/** Less is done sooner than a thread is asked. */
const MIN_THREAD_BYTES = 64 * 1024;
/** From here on a batch counts as large: as values, and as text once more, it takes several times its size. */
const LARGE_BYTES = 2 * 1024 * 1024;
/** Batches under way for each thread: one is encoded while the one before is stored. */
const BATCHES_PER_THREAD = 2;

/**
 * Makes the encoder of batches: on threads of its own, or in the calling thread where it has none. What comes out is
 * the same.
 *
 * An error of a batch is the same error, a `JsonlError` with its place; a thread that dies fails the batches that it
 * had. Disposing ends the threads at once.
 */
export function createRowEncoder({ threads: threadCount = 0 }: RowEncoderOptions = {}): RowEncoder {
  const spare = new BufferPool();
  const inline = createBatchEncoder(spare);
  const threads = threadCount > 0 ? startEncoderThreads(threadCount) : null;
  const planNumbers = new WeakMap<RowPlan, number>();
  let lastPlan = 0;

  function numberOf(plan: RowPlan): number {
    const number = planNumbers.get(plan) ?? ++lastPlan;
    planNumbers.set(plan, number);
    return number;
  }

  /** Has a batch encoded on a thread, whose buffers go along, with some that may be used for its rows. */
  function run(
    on: EncoderThreads,
    work: EncodeWork,
    target: RowTarget,
    buffers: readonly ArrayBuffer[],
    byteLength: number,
  ): Promise<unknown> {
    const unused = spare.takeAll();
    const isLarge = byteLength >= LARGE_BYTES;
    return on.run({ work, target, spare: unused }, [...buffers, ...unused], isLarge);
  }

  return {
    parallelism: threads === null ? 1 : threadCount * BATCHES_PER_THREAD,
    async encodeLines(batch, { id: sectionId }, firstOrderIndex, options) {
      const target = { sectionId, firstOrderIndex };
      if (threads === null || batch.bytes.byteLength < MIN_THREAD_BYTES) {
        return inline.encodeLines(batch, target, options);
      }
      const buffers = [batch.bytes.buffer as ArrayBuffer];
      const { byteLength } = batch.bytes;
      return (await run(threads, { kind: 'lines', batch, options }, target, buffers, byteLength)) as
        | EncodedRows
        | NeedsFiles;
    },
    async encodeFilled(lines, { id: sectionId }, firstOrderIndex, options) {
      const target = { sectionId, firstOrderIndex };
      if (threads === null || lines.itemBytes < MIN_THREAD_BYTES) {
        return inline.encodeFilled(lines, target, options);
      }
      const copied = copyContents(lines);
      const files = new Set(copied.contents.flat());
      const buffers = [copied.batch.bytes, ...files].map(({ buffer }) => buffer as ArrayBuffer);
      const work = { kind: 'filled', lines: copied, options } as const;
      return (await run(threads, work, target, buffers, lines.itemBytes)) as EncodedRows;
    },
    async encodeCells(batch, plan, { id: sectionId }, firstOrderIndex) {
      const target = { sectionId, firstOrderIndex };
      const numbered = { ...plan, number: numberOf(plan) };
      if (threads === null || batch.bytes.byteLength < MIN_THREAD_BYTES) {
        return inline.encodeCells(batch, numbered, target);
      }
      const buffers = [batch.bytes.buffer as ArrayBuffer, batch.ends.buffer as ArrayBuffer];
      const work = { kind: 'cells', batch, plan: numbered } as const;
      return (await run(threads, work, target, buffers, batch.bytes.byteLength)) as EncodedRows;
    },
    encodeItems: (items, { id: sectionId }, firstOrderIndex) =>
      inline.encodeItems(items, { sectionId, firstOrderIndex }),
    recycle({ rows, lines }) {
      spare.give(rows.buffer as ArrayBuffer);
      if (lines !== null) spare.give(lines.buffer as ArrayBuffer);
    },
    async [Symbol.asyncDispose]() {
      await threads?.[Symbol.asyncDispose]();
    },
  };
}

/** Copies of the contents, which the thread may have; the caller needs its own for the next items. */
function copyContents({ batch, contents, itemBytes }: FilledLines): FilledLines {
  const copies = new Map<Uint8Array, Uint8Array>();
  const copy = (bytes: Uint8Array): Uint8Array => {
    // A file that many entries name goes over once.
    const copied = copies.get(bytes) ?? bytes.slice();
    copies.set(bytes, copied);
    return copied;
  };
  return {
    batch: { ...batch, bytes: batch.bytes.slice() },
    contents: contents.map((files) => files.map(copy)),
    itemBytes,
  };
}
