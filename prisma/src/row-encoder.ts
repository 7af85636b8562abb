import type { EncodedRows, FilledLines, NeedsFiles, RowEncoder, RowPlan } from '@svc/flows';
import { createBatchEncoder } from './encode-batch.ts';
import type { EncodeWork } from './encode-message.ts';
import type { RowTarget } from './encode-rows.ts';
import { type EncoderThreads, startEncoderThreads } from './encoder-threads.ts';
import { SpareBuffers } from './spare-buffers.ts';

export interface RowEncoderOptions {
  /** threads at most; 0 does all work in the calling thread */
  readonly threads?: number;
}

/** Less is done sooner than a thread is asked. */
const MIN_THREAD_BYTES = 64 * 1024;
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
  const spare = new SpareBuffers();
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
  ): Promise<unknown> {
    const unused = spare.takeAll();
    return on.run({ work, target, spare: unused }, [...buffers, ...unused]);
  }

  return {
    parallelism: threads === null ? 1 : threadCount * BATCHES_PER_THREAD,
    async encodeLines(batch, { id: sectionId }, firstOrderIndex, options) {
      const target = { sectionId, firstOrderIndex };
      if (threads === null || batch.bytes.byteLength < MIN_THREAD_BYTES) {
        return inline.encodeLines(batch, target, options);
      }
      const buffers = [batch.bytes.buffer as ArrayBuffer];
      return (await run(threads, { kind: 'lines', batch, options }, target, buffers)) as
        | EncodedRows
        | NeedsFiles;
    },
    async encodeFilled(lines, { id: sectionId }, firstOrderIndex, options) {
      const target = { sectionId, firstOrderIndex };
      if (threads === null || lines.itemBytes < MIN_THREAD_BYTES) {
        return inline.encodeFilled(lines, target, options);
      }
      const shared = shareContents(lines);
      const buffers = [shared.batch.bytes.buffer as ArrayBuffer];
      return (await run(threads, { kind: 'filled', lines: shared, options }, target, buffers)) as EncodedRows;
    },
    async encodeCells(batch, plan, { id: sectionId }, firstOrderIndex) {
      const target = { sectionId, firstOrderIndex };
      const numbered = { ...plan, number: numberOf(plan) };
      if (threads === null || batch.bytes.byteLength < MIN_THREAD_BYTES) {
        return inline.encodeCells(batch, numbered, target);
      }
      const buffers = [batch.bytes.buffer as ArrayBuffer, batch.ends.buffer as ArrayBuffer];
      return (await run(threads, { kind: 'cells', batch, plan: numbered }, target, buffers)) as EncodedRows;
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

/**
 * The contents in memory that both threads see: they are the caller's, who may use them for the next items, and a file
 * that many entries name goes over once.
 */
function shareContents({ batch, contents, itemBytes }: FilledLines): FilledLines {
  const shared = new Map<Uint8Array, Uint8Array>();
  const share = (bytes: Uint8Array): Uint8Array => {
    const known = shared.get(bytes);
    if (known !== undefined) return known;
    const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
    copy.set(bytes);
    shared.set(bytes, copy);
    return copy;
  };
  return {
    batch: { ...batch, bytes: batch.bytes.slice() },
    contents: contents.map((files) => files.map(share)),
    itemBytes,
  };
}
