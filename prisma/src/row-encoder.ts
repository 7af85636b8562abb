import type { RowEncoder } from '@svc/flows';
import { createBatchEncoder } from './encode-batch.ts';

/** Encodes batches in the calling thread, one at a time. */
export function createRowEncoder(): RowEncoder {
  const encoder = createBatchEncoder();
  return {
    parallelism: 1,
    encodeLines: async (batch, target, firstOrderIndex, options) =>
      encoder.encodeLines(batch, { sectionId: target.id, firstOrderIndex }, options),
    encodeItems: (items, target, firstOrderIndex) =>
      encoder.encodeItems(items, { sectionId: target.id, firstOrderIndex }),
    async [Symbol.asyncDispose]() {},
  };
}
