import { JsonlError } from '../errors.ts';
import { FastItemEncoder } from '../fast/fast-item-encoder.ts';
import { checkItemSize } from '../item/embedded-size.ts';
import { canonicalByteLength } from '../item/encode-item.ts';
import { type JsonObject, setMember } from '../json/json-value.ts';
import { DEFAULT_MAX_DEPTH, JsonReader } from '../json/parse-json.ts';
import { EncodedLine, type EncoderOptions } from '../lines/encode-lines.ts';
import { type CellBatch, NO_REASON } from './cell-batch.ts';
import { compileMapping, type MappableFeature } from './compile-mapping.ts';
import type { Mapping } from './mapping.ts';
import { RowLines } from './row-lines.ts';

/** Cells may be nested as deep as the parser reads; `compileMapping` refuses items that become too deep. */
const MAX_CELL_DEPTH = 1000;

/** Encodes the items of batches of rows, one batch after another. */
export interface CellEncoder {
  /**
   * Encodes the items of a batch. Yields the same object for each item, with other values: copy what you keep.
   *
   * @param onError if given, receives the error of each row that has no item, null for an unread row without a reason; such
   *   rows are skipped instead of thrown
   * @throws JsonlError as the function of `compileMapping` does
   */
  encode(
    batch: CellBatch,
    onError?: (error: JsonlError | null) => void,
  ): Generator<EncodedLine, void, undefined>;
}

/**
 * Makes an encoder that gives the same bytes and errors as `compileMapping` and `createItemEncoder`, several times as
 * fast: the cells of common rows are joined into lines (see `RowLines`), and only the others become values.
 *
 * @throws JsonlError as `compileMapping` does
 *
 * @example
 * const encoder = createCellEncoder({ promptColumn: 'question', answerColumn: 'answer' }, features);
 * for (const { bytes, itemStart, itemEnd } of encoder.encode(batch)) write(bytes.subarray(itemStart, itemEnd));
 */
export function createCellEncoder(
  mapping: Mapping,
  features: readonly MappableFeature[],
  options: EncoderOptions = {},
): CellEncoder {
  const toItem = compileMapping(mapping, features);
  const { maxItemBytes = Number.POSITIVE_INFINITY } = options;
  const lines = new RowLines(mapping, maxItemBytes);
  const fastEncoder = new FastItemEncoder();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const line = new EncodedLine(options);

  /** Encodes the line of a row. Returns false to leave the row to the reference path. */
  function encodeLine(row: number): boolean {
    const joined = lines.join(row);
    if (joined === null) return false;
    fastEncoder.load(joined, DEFAULT_MAX_DEPTH);
    if (fastEncoder.encode(0, line) === -1) return false;
    line.endEncoded();
    return true;
  }

  function toRow(batch: CellBatch, row: number, reader: JsonReader): JsonObject {
    const { bytes, ends, columns } = batch;
    const object: JsonObject = {};
    for (const [index, column] of columns.entries()) {
      const cell = row * columns.length + index;
      const text = decoder.decode(bytes.subarray(cell === 0 ? 0 : ends[cell - 1], ends[cell]));
      reader.use(text);
      setMember(object, column, reader.read(0, text.length, {}));
    }
    return object;
  }

  return {
    *encode(batch, onError) {
      const { firstRow, rowCount, split, idOffset, invalid } = batch;
      const reader = new JsonReader('', MAX_CELL_DEPTH);
      lines.load(batch);
      for (let row = 0; row < rowCount; row++) {
        const unread = invalid?.get(row);
        if (unread !== undefined) {
          const { message, location } = unread ?? NO_REASON;
          const errorOf = (): JsonlError =>
            new JsonlError('invalid_row', message, { ...location, row: firstRow + row });
          if (onError === undefined) throw errorOf();
          onError(unread === null ? null : errorOf());
          continue;
        }
        if (!encodeLine(row)) {
          try {
            line.setItem(toItem(toRow(batch, row, reader), firstRow + row, split, idOffset));
            if (line.item !== null) checkOthers(line.item, maxItemBytes);
          } catch (error) {
            if (!(error instanceof JsonlError)) throw error;
            const located = inRow(error, firstRow + row);
            if (onError === undefined) throw located;
            onError(located);
            continue;
          }
        }
        yield line;
      }
      line.release();
    },
  };
}

/** Refuses an item with files whose other members would become too long a text, before they are a text. */
function checkOthers({ assets, checker, ...others }: JsonObject, maxItemBytes: number): void {
  checkItemSize(canonicalByteLength(others, maxItemBytes), 0, { maxItemBytes });
}

function inRow(error: JsonlError, row: number): JsonlError {
  if (error.location.row !== undefined) return error;
  const { code, message, location } = error;
  return new JsonlError(code, message, { ...location, row }, { cause: error });
}
