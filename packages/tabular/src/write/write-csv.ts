import { setImmediate as nextTurn } from 'node:timers/promises';
import { cellText } from './cell-text.ts';
import { checkBatch, checkColumns, jsonOf, type TableColumn } from './table-column.ts';

/** UTF-16 code units of a chunk. */
const CHUNK_LENGTH = 64 * 1024;

export interface CsvOptions {
  /**
   * Writes for spreadsheet programs: begins with a byte order mark, and puts an apostrophe before each text that such a
   * program would take for a formula. Without it, every text is written as it is.
   */
  readonly isForExcel?: boolean;
}

/**
 * Writes a table as CSV (RFC 4180, in UTF-8, lines end with a line feed): a header, then one record for each row. An
 * empty cell is a null, `""` an empty text. The same rows give the same bytes, in chunks of some 64 KiB that do not
 * depend on the batches; the event loop runs between them.
 *
 * @throws TypeError for wrong arguments, batches and cells; errors of the batches
 *
 * @example writeCsv(batches, [{ name: 'id', type: 'string', json: (row) => row.id }])
 */
export async function* writeCsv<Row>(
  batches: AsyncIterable<readonly Row[]>,
  columns: readonly TableColumn<Row>[],
  options: CsvOptions = {},
): AsyncGenerator<Uint8Array> {
  checkColumns(columns);
  const { isForExcel = false } = options;
  const encoder = new TextEncoder();
  const header = columns.map(({ name }) => quoteIfNeeded(isForExcel ? guard(name) : name)).join(',');
  let text = `${isForExcel ? '\ufeff' : ''}${header}\n`;
  for await (const batch of batches) {
    checkBatch(batch);
    for (const row of batch) {
      for (const [index, column] of columns.entries()) {
        if (index > 0) text += ',';
        const { type } = column;
        const value = jsonOf(column, row);
        const cell = cellText(value);
        const isText = type === 'json' || (type === 'string' && !isNumber(value));
        if (cell === null) {
          // A reader would skip an empty line.
          if (columns.length === 1) text += '""';
        } else if (typeof cell === 'string') {
          text += quoteIfNeeded(isForExcel && isText ? guard(cell) : cell);
        } else {
          text += '"';
          let isFirst = true;
          for (const piece of cell.pieces()) {
            text += (isForExcel && isText && isFirst ? guard(piece) : piece).replaceAll('"', '""');
            isFirst = false;
            if (text.length < CHUNK_LENGTH) continue;
            yield encoder.encode(text);
            text = '';
            await nextTurn();
          }
          text += '"';
        }
      }
      text += '\n';
      if (text.length < CHUNK_LENGTH) continue;
      yield encoder.encode(text);
      text = '';
      await nextTurn();
    }
  }
  if (text !== '') yield encoder.encode(text);
}

const NEEDS_QUOTES = /[",\r\n]/;

/** A cell, in quotes if a reader would otherwise split it, take it for a null, or remove its outer blanks. */
function quoteIfNeeded(cell: string): string {
  const isPlain = cell !== '' && cell.trim().length === cell.length && !NEEDS_QUOTES.test(cell);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** Beginnings of formulas, also in the full-width forms that some spreadsheet programs read alike. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

const guard = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

const isNumber = (json: string | null): boolean => json !== null && /^-?[0-9]/.test(json);
