import { JsonlError } from '@svc/jsonl-v23';
import {
  type CellBatch,
  type CellEncoder,
  checkItemSize,
  checkValueCount,
  createCellEncoder,
  createItemEncoder,
  createLineEncoder,
  type EncodedLine,
  embedFiles,
  type LineBatch,
  parseLines,
} from '@svc/jsonl-v23/internal';
import type { BufferPool } from './buffer-pool.ts';
import { type RowTarget, RowWriter } from './encode-rows.ts';
import type { EncodedRows, FilledLines, LineOptions, NeedsFiles, NumberedPlan } from './encoded-rows.ts';
import { type Failure, MAX_ROW_FAILURES, toFailure } from './row-failures.ts';

/** Encodes batches. The result depends on the arguments alone, so it may run on any thread. */
export interface BatchEncoder {
  /**
   * Parses, validates, canonicalises, hashes and encodes lines.
   *
   * @throws JsonlError with the location, as `parseLines` does; `line_too_long` for an item whose canonical text is longer
   *   than a line may be
   */
  encodeLines(batch: LineBatch, target: RowTarget, options: LineOptions): EncodedRows | NeedsFiles;
  /** Does the same for lines whose files have been read and counted. */
  encodeFilled(lines: FilledLines, target: RowTarget, options: LineOptions): EncodedRows;
  /**
   * Does the same for rows of a dataset, of which the plan makes items.
   *
   * @throws JsonlError with the row, as the function of `compileMapping` does; `line_too_long` for an item that is
   *   longer than a line may be, or has more values; none of them when the plan collects failures
   */
  encodeCells(batch: CellBatch, plan: NumberedPlan, target: RowTarget): EncodedRows;
}

/** Makes an encoder. @param pool buffers for the results */
export function createBatchEncoder(pool: BufferPool): BatchEncoder {
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

  /** Every item of a batch, with the files that it refers to. */
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
      const rows = new RowWriter(target, { items: itemCount, bytes: bytes.byteLength }, pool);
      for (const line of lineEncoder.encode(batch, options)) {
        if (line.needsFiles) return { needsFiles: true, bytes, items: itemFiles(batch, options) };
        checkLine(line, options);
        rows.add(line, line.embedsFiles);
      }
      return rows.end();
    },
    encodeFilled({ batch, contents, itemBytes }, target, options) {
      const rows = new RowWriter(target, { items: batch.itemCount, bytes: itemBytes }, pool, false);
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
      const rows = new RowWriter(target, expected, pool);
      const failures: Failure[] = [];
      let failureCount = 0;
      let row = batch.firstRow;
      const skipRow = (error: JsonlError): void => {
        row += 1;
        failureCount += 1;
        if (failures.length < MAX_ROW_FAILURES) failures.push(toFailure(error));
      };
      const onError = plan.collectsFailures ? skipRow : undefined;
      for (const line of cellEncoder(plan).encode(batch, onError)) {
        try {
          checkRow(line, plan.maxItemBytes, row);
        } catch (error) {
          if (onError === undefined || !(error instanceof JsonlError)) throw error;
          onError(error);
          continue;
        }
        rows.add(line, line.embedsFiles);
        row += 1;
      }
      return rows.end(failureCount === 0 ? null : { first: failures, total: failureCount });
    },
  };
}

/** Plans whose encoders are kept, for imports that run at the same time. */
const MAX_PLANS = 8;
/** The keys of an item that are not in the cells of its row. */
const EXPECTED_KEY_BYTES = 128;

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
