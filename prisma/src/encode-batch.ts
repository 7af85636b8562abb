import type { EncodedRows, NeedsFiles } from '@svc/flows';
import {
  assetEntries,
  createItemEncoder,
  createLineEncoder,
  getMember,
  type Item,
  isEmbeddedChecker,
  type LineBatch,
} from '@svc/jsonl-v23';
import { type RowTarget, RowWriter } from './encode-rows.ts';
import type { SpareBuffers } from './spare-buffers.ts';

/** The work on a batch. What comes out depends on the arguments alone, so it runs here or on another thread. */
export interface BatchEncoder {
  /**
   * The whole work on a batch of lines: parse, validate, canonical text, hash, rows.
   *
   * @throws JsonlError with the place, as `parseLines` does
   */
  encodeLines(
    batch: LineBatch,
    target: RowTarget,
    options: { readonly file: string; readonly maxDepth: number },
  ): EncodedRows | NeedsFiles;
  /** The same for items that are at hand. */
  encodeItems(items: readonly Item[], target: RowTarget): EncodedRows;
}

/** Makes an encoder. @param spare buffers that results may be put into */
export function createBatchEncoder(spare: SpareBuffers): BatchEncoder {
  const lineEncoder = createLineEncoder();
  const itemEncoder = createItemEncoder();
  return {
    encodeLines(batch, target, options) {
      const { bytes, itemCount } = batch;
      const rows = new RowWriter(target, { items: itemCount, bytes: bytes.byteLength }, spare);
      for (const line of lineEncoder.encode(batch, options)) {
        if (line.needsFiles) return { needsFiles: true, bytes };
        rows.add(line, line.embedsFiles);
      }
      return rows.end();
    },
    encodeItems(items, target) {
      const expected = { items: items.length, bytes: items.length * USUAL_ITEM_BYTES };
      const rows = new RowWriter(target, expected, spare);
      for (const item of items) rows.add(itemEncoder.encode(item), embedsFiles(item));
      return rows.end();
    },
  };
}

const USUAL_ITEM_BYTES = 512;

/** Whether an export moves something of the item into files. */
function embedsFiles(item: Item): boolean {
  return (
    assetEntries(item).some(({ entry }) => Object.hasOwn(entry, 'data')) ||
    isEmbeddedChecker(getMember(item, 'checker'))
  );
}
