import type { EncodedRows, NeedsFiles } from '@svc/flows';
import {
  assetEntries,
  type CellBatch,
  type CellEncoder,
  createCellEncoder,
  createItemEncoder,
  createLineEncoder,
  getMember,
  type Item,
  isEmbeddedChecker,
  type LineBatch,
} from '@svc/jsonl-v23';
import type { NumberedPlan } from './encode-message.ts';
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
  /**
   * The same for rows of a dataset, of which the plan makes items.
   *
   * @throws JsonlError with the row, as the function of `compileMapping` does
   */
  encodeCells(batch: CellBatch, plan: NumberedPlan, target: RowTarget): EncodedRows;
  /** The same for items that are at hand. */
  encodeItems(items: readonly Item[], target: RowTarget): EncodedRows;
}

/** Makes an encoder. @param spare buffers that results may be put into */
export function createBatchEncoder(spare: SpareBuffers): BatchEncoder {
  const lineEncoder = createLineEncoder();
  const itemEncoder = createItemEncoder();
  const cellEncoders = new Map<number, CellEncoder>();

  function cellEncoder({ number, mapping, features }: NumberedPlan): CellEncoder {
    const known = cellEncoders.get(number);
    if (known !== undefined) return known;
    const encoder = createCellEncoder(mapping, features);
    cellEncoders.set(number, encoder);
    const [oldest] = cellEncoders.keys();
    if (cellEncoders.size > MOST_PLANS && oldest !== undefined) cellEncoders.delete(oldest);
    return encoder;
  }

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
    encodeCells(batch, plan, target) {
      const { bytes, rowCount } = batch;
      const expected = { items: rowCount, bytes: bytes.byteLength + rowCount * USUAL_KEY_BYTES };
      const rows = new RowWriter(target, expected, spare);
      for (const line of cellEncoder(plan).encode(batch)) rows.add(line, line.embedsFiles);
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

/** Plans whose encoders are kept: of imports that run at the same time. */
const MOST_PLANS = 8;
/** The keys of an item that are not in the cells of its row. */
const USUAL_KEY_BYTES = 128;
const USUAL_ITEM_BYTES = 512;

/** Whether an export moves something of the item into files. */
function embedsFiles(item: Item): boolean {
  return (
    assetEntries(item).some(({ entry }) => Object.hasOwn(entry, 'data')) ||
    isEmbeddedChecker(getMember(item, 'checker'))
  );
}
