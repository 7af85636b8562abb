import { JsonlError } from '@svc/jsonl-v23';
import { checkItemSize, linkedReferences } from '@svc/jsonl-v23/assets';
import { NO_REASON, type UnreadRows } from '@svc/jsonl-v23/imports';
import { CanonicalWriter, checkValueCount, type JsonObject, MAX_LINE_VALUES } from '@svc/jsonl-v23/json';
import type { LineBatch } from '@svc/jsonl-v23/lines';
import { compileMapping } from '@svc/jsonl-v23/mapping';
import { createYielder } from '../../../concurrency/index.ts';
import { FaultList, type MappingPlan, onlyInPackages, type RowFailures } from './encode-rows.ts';

/** Some consecutive rows of one split, which count from its first row. */
export interface TableRows {
  /** 0-based, in the split. */
  readonly firstRow: number;
  /** With all columns that the mapping uses. */
  readonly rows: readonly JsonObject[];
  /** Rows that could not be read, by their index in `rows`. */
  readonly invalid?: UnreadRows | undefined;
  readonly split: string;
  /** Added to the number of a row in the id that is made of it; default 0. */
  readonly idOffset?: number | undefined;
}

/** The items of some rows as lines, and the rows that have none. */
export interface ItemLines {
  readonly batch: LineBatch;
  readonly failures: RowFailures | null;
}

/** Rows that are mapped before others have a turn; of a mapping with a pattern, each has its own. */
const ROWS_PER_TURN = 64;
const LINE_FEED = 10;

/**
 * Turns rows into the lines of their items: what a section of a package would have. A batch ends by what its rows become,
 * because a mapping may make many times as much of them. Invalid rows are left out, and become failures: the errors of
 * `compileMapping` with the row, and `line_too_long` for an item that is longer than a line may be, or has more values.
 *
 * @throws JsonlError as `compileMapping` does for the plan; what `batches` throws
 */
export async function* rowsToLines(
  batches: AsyncIterable<TableRows>,
  { mapping, features, maxItemBytes }: MappingPlan,
  maxBytes: number,
): AsyncGenerator<ItemLines> {
  const toItem = compileMapping(mapping, features);
  const rowsPerTurn = mapping.answerPattern === undefined ? ROWS_PER_TURN : 1;
  const yieldToEventLoop = createYielder();
  const lines = new CanonicalWriter();
  let counter = new FaultList();
  let itemCount = 0;

  const addRow = (row: JsonObject, index: number, { split, idOffset }: TableRows): void => {
    const start = lines.length;
    try {
      const item = toItem(row, index, split, idOffset);
      const [reference] = linkedReferences(item, null);
      if (reference !== undefined) {
        const { path, pointer } = reference;
        throw new JsonlError('missing_file', onlyInPackages(path, pointer), { row: index, path: pointer });
      }
      lines.maxBytes = start + maxItemBytes;
      lines.write(item);
      const length = lines.length - start;
      checkItemSize(length, 0, { maxItemBytes });
      // A value takes two bytes at least.
      if (length > 2 * MAX_LINE_VALUES) checkValueCount(lines.bytes(start, lines.length));
    } catch (error) {
      const isTooLong = error instanceof JsonlError && error.code === 'line_too_long';
      const length = lines.length - start;
      lines.truncate(start);
      // The writer only knows where it ended.
      if (isTooLong) checkItemSize(length, 0, { maxItemBytes });
      throw error;
    } finally {
      lines.maxBytes = Number.POSITIVE_INFINITY;
    }
    lines.writeByte(LINE_FEED);
    itemCount += 1;
  };
  const take = (): ItemLines => {
    const bytes = lines.bytes(0, lines.length).slice();
    const batch = { bytes, firstLine: 1, lineCount: itemCount, itemCount };
    const { failures } = counter;
    lines.clear();
    counter = new FaultList();
    itemCount = 0;
    return { batch, failures };
  };

  for await (const batch of batches) {
    for (const [at, row] of batch.rows.entries()) {
      const index = batch.firstRow + at;
      const unread = batch.invalid?.get(at);
      if (unread === undefined) {
        try {
          addRow(row, index, batch);
        } catch (error) {
          if (!(error instanceof JsonlError)) throw error;
          counter.addError(inRow(error, index));
        }
      } else if (unread === null || unread === NO_REASON) counter.addError(null);
      else
        counter.addError(new JsonlError('invalid_row', unread.message, { ...unread.location, row: index }));
      if (lines.length >= maxBytes) yield take();
      if (at % rowsPerTurn === 0) await yieldToEventLoop();
    }
    // The rows of a batch belong together: their faults are reported, and their number is counted, with them.
    if (lines.length >= maxBytes / 2 || counter.total > 0) yield take();
  }
  if (itemCount > 0 || counter.total > 0) yield take();
}

function inRow(error: JsonlError, row: number): JsonlError {
  if (error.location.row !== undefined) return error;
  const { code, message, location } = error;
  return new JsonlError(code, message, { ...location, row }, { cause: error });
}
