import type { EncodedRows, NeedsFiles, RowEncoder } from '@svc/flows';
import { createBatchEncoder } from './encode-batch.ts';
import { startEncoderThreads } from './encoder-threads.ts';
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
  return {
    parallelism: threads === null ? 1 : threadCount * BATCHES_PER_THREAD,
    async encodeLines(batch, { id: sectionId }, firstOrderIndex, options) {
      const target = { sectionId, firstOrderIndex };
      const { bytes } = batch;
      if (threads === null || bytes.byteLength < MIN_THREAD_BYTES) {
        return inline.encodeLines(batch, target, options);
      }
      const buffers = spare.takeAll();
      const transfer = [bytes.buffer as ArrayBuffer, ...buffers];
      const encoded = await threads.run({ batch, target, options, spare: buffers }, transfer);
      return encoded as EncodedRows | NeedsFiles;
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
