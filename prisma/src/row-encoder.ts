import type { RowEncoder } from '@svc/flows';
import { encodeBatch, encodeItems } from './encode-batch.ts';

/** Encodes batches in the calling thread, one at a time. */
export function createRowEncoder(): RowEncoder {
  return {
    parallelism: 1,
    encodeLines: async (batch, target, firstOrderIndex, options) =>
      encodeBatch(batch, { sectionId: target.id, firstOrderIndex }, options),
    encodeItems: (items, target, firstOrderIndex) =>
      encodeItems(items, { sectionId: target.id, firstOrderIndex }),
    async [Symbol.asyncDispose]() {},
  };
}
