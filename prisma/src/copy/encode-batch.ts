import type { EncodedRows, FilledLines, LineOptions, NeedsFiles } from '@svc/flows';
import type { Item } from '@svc/jsonl-v23';
import {
  assetEntries,
  type CellBatch,
  type CellEncoder,
  checkItemSize,
  checkValueCount,
  createCellEncoder,
  createItemEncoder,
  createLineEncoder,
  type EncodedLine,
  embedFiles,
  isEmbeddedChecker,
  type LineBatch,
  parseLines,
} from '@svc/jsonl-v23/internal';
import { getMember } from '@svc/jsonl-v23/json';
import type { BufferPool } from './buffer-pool.ts';
import type { NumberedPlan } from './encode-message.ts';
import { type RowTarget, RowWriter } from './encode-rows.ts';

/** The work on a batch. What comes out depends on the arguments alone, so it runs here or on another thread. */
export interface BatchEncoder {
  /**
   * The whole work on a batch of lines: parse, validate, canonical text, hash, rows.
   *
   * @throws JsonlError with the place, as `parseLines` does; `line_too_long` for an item whose canonical text is longer
   *   than a line may be
   */
  encodeLines(batch: LineBatch, target: RowTarget, options: LineOptions): EncodedRows | NeedsFiles;
  /** The same for lines whose files have been read and counted. */
  encodeFilled(lines: FilledLines, target: RowTarget, options: LineOptions): EncodedRows;
  /**
   * The same for rows of a dataset, of which the plan makes items.
   *
   * @throws JsonlError with the row, as the function of `compileMapping` does; `line_too_long` for an item that is
   *   longer than a line may be, or has more values
   */
  encodeCells(batch: CellBatch, plan: NumberedPlan, target: RowTarget): EncodedRows;
  /** The same for items that are at hand. */
  encodeItems(items: readonly Item[], target: RowTarget): EncodedRows;
}

/** Makes an encoder. @param spare buffers that results may be put into */
export function createBatchEncoder(spare: BufferPool): BatchEncoder {
  const lineEncoder = createLineEncoder();
  const itemEncoder = createItemEncoder();
  const cellEncoders = new Map<number, CellEncoder>();

  function cellEncoder({ number, mapping, features }: NumberedPlan): CellEncoder {
    const known = cellEncoders.get(number);
    if (known !== undefined) return known;
    const encoder = createCellEncoder(mapping, features);
    cellEncoders.set(number, encoder);
    const [oldest] = cellEncoders.keys();
    if (cellEncoders.size > MAX_PLANS && oldest !== undefined) cellEncoders.delete(oldest);
    return encoder;
  }

  /** Every item of a batch, with the files that it names. */
  function itemFiles(batch: LineBatch, options: LineOptions): NeedsFiles['items'] {
    return Array.from(lineEncoder.encode(batch, options), (line) => {
      checkLine(line, options);
      const { line: number, lineStart: start, lineEnd: end, references } = line;
      return { line: number, start, end, itemBytes: lengthOf(line), references };
    });
  }

  return {
    encodeLines(batch, target, options) {
      const { bytes, itemCount } = batch;
      const rows = new RowWriter(target, { items: itemCount, bytes: bytes.byteLength }, spare);
      for (const line of lineEncoder.encode(batch, options)) {
        if (line.needsFiles) return { needsFiles: true, bytes, items: itemFiles(batch, options) };
        checkLine(line, options);
        rows.add(line, line.embedsFiles);
      }
      return rows.end();
    },
    encodeFilled({ batch, contents, itemBytes }, target, options) {
      const rows = new RowWriter(target, { items: batch.itemCount, bytes: itemBytes }, spare, false);
      const items = parseLines(batch, options);
      const expectedBytes = items.length === 1 ? itemBytes : 0;
      for (const [index, { item }] of items.entries()) {
        const whole = embedFiles(item, contents[index] ?? [], toBase64);
        rows.add(itemEncoder.encode(whole, expectedBytes), true);
      }
      itemEncoder.release();
      return rows.end();
    },
    encodeCells(batch, plan, target) {
      const { bytes, rowCount } = batch;
      const expected = { items: rowCount, bytes: bytes.byteLength + rowCount * EXPECTED_KEY_BYTES };
      const rows = new RowWriter(target, expected, spare);
      let row = batch.firstRow;
      for (const line of cellEncoder(plan).encode(batch)) {
        checkRow(line, plan.maxItemBytes, row++);
        rows.add(line, line.embedsFiles);
      }
      return rows.end();
    },
    encodeItems(items, target) {
      const expected = { items: items.length, bytes: items.length * EXPECTED_ITEM_BYTES };
      const rows = new RowWriter(target, expected, spare);
      for (const item of items) rows.add(itemEncoder.encode(item), embedsFiles(item));
      return rows.end();
    },
  };
}

/** Plans whose encoders are kept: of imports that run at the same time. */
const MAX_PLANS = 8;
/** The keys of an item that are not in the cells of its row. */
const EXPECTED_KEY_BYTES = 128;
const EXPECTED_ITEM_BYTES = 512;

const lengthOf = ({ itemStart, itemEnd }: EncodedLine): number => itemEnd - itemStart;

/** A line within the limit may have a canonical text beyond it: `1e20` becomes 21 digits. */
function checkLine(line: EncodedLine, { file, maxLineBytes }: LineOptions): void {
  const length = lengthOf(line);
  if (length <= maxLineBytes) return;
  checkItemSize(length, 0, { maxItemBytes: maxLineBytes, location: { file, line: line.line } });
}

function checkRow(line: EncodedLine, maxItemBytes: number, row: number): void {
  const length = lengthOf(line);
  if (length > maxItemBytes) checkItemSize(length, 0, { maxItemBytes, location: { row } });
  checkValueCount(line.bytes.subarray(line.itemStart, line.itemEnd), { row });
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** Whether an export moves something of the item into files. */
function embedsFiles(item: Item): boolean {
  return (
    assetEntries(item).some(({ entry }) => Object.hasOwn(entry, 'data')) ||
    isEmbeddedChecker(getMember(item, 'checker'))
  );
}
