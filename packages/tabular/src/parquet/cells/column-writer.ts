import type { CellWriter } from '@svc/jsonl-v23/internal';
import type { Feature } from '../../schema/features.ts';
import { StringColumn } from '../encodings/string-column.ts';
import { type CellConverter, compileCell } from './cell.ts';
import type { CellValues } from './convert.ts';
import { decodeText } from './texts.ts';

/** Writes the cell of one row of a batch. @throws ParquetError for text that is not UTF-8 */
export type RowWriter = (row: number) => void;

/** Makes the writer of one column for each batch of rows; undefined are the cells of a file that lacks the column. */
export type ColumnWriter = (cells: CellValues | undefined) => RowWriter;

/** What the upper half of a number counts. */
const HIGH_UNIT = 2 ** 32;

/**
 * Compiles how the cells of a column are written: texts as their bytes, 64-bit numbers without big integers, everything
 * else as what `compileCell` makes of it.
 *
 * @param feature undefined where the file lacks the column
 */
export function compileColumnWriter(feature: Feature | undefined, writer: CellWriter): ColumnWriter {
  const writeNull = (): void => writer.value(null);
  if (feature === undefined) return () => writeNull;
  const convert = compileCell(feature);
  const isNumber = feature.kind === 'value' && /^(?:u?int|float)\d+$/.test(feature.dtype);
  return (cells) => {
    if (cells === undefined) return writeNull;
    if (cells instanceof StringColumn) return textWriter(cells, writer);
    if (isNumber && cells instanceof BigInt64Array) return int64Writer(cells, convert, writer);
    if (isNumber && isNumbers(cells)) return numberWriter(cells, writer);
    return (row) => writer.value(convert(cells[row]));
  };
}

type Numbers = Float64Array | Float32Array | Int32Array | Uint32Array;

const isNumbers = (cells: CellValues): cells is Numbers =>
  cells instanceof Float64Array ||
  cells instanceof Float32Array ||
  cells instanceof Int32Array ||
  cells instanceof Uint32Array;

function textWriter({ bytes, words, starts, ends }: StringColumn, writer: CellWriter): RowWriter {
  return (row) => {
    const start = starts[row] as number;
    const end = ends[row] as number;
    if (start === -1) writer.value(null);
    // Decoding fails with the error for bytes that are not UTF-8.
    else if (!writer.text(bytes, start, end, words)) decodeText(bytes.subarray(start, end));
  };
}

function numberWriter(cells: Numbers, writer: CellWriter): RowWriter {
  return (row) => {
    const value = cells[row] as number;
    writer.value(Number.isFinite(value) ? value : null);
  };
}

/** Puts the halves of a number together, without a big integer if a double holds it. */
function int64Writer(cells: BigInt64Array, convert: CellConverter, writer: CellWriter): RowWriter {
  // The lower half comes first, as in the file.
  const halves = new Int32Array(cells.buffer, cells.byteOffset, 2 * cells.length);
  return (row) => {
    const value = (halves[2 * row + 1] as number) * HIGH_UNIT + ((halves[2 * row] as number) >>> 0);
    writer.value(Number.isSafeInteger(value) ? value : convert(cells[row]));
  };
}
