import { type CellRows, CellWriter } from '@svc/jsonl-v23/internal';
import type { TableError } from '../errors.ts';
import { asIs, type Convert, toBoolean, toNumber } from '../schema/cast.ts';
import type { BatchWriter } from '../text/batch-rows.ts';
import { endCells, isFullBatch } from './cell-batches.ts';
import { VERBATIM } from './csv-scanner.ts';
import type { PandasRows } from './pandas-rows.ts';
import { truthOf } from './plain-number.ts';

/** Writes rows as the cells of some columns. */
export class PandasCells implements BatchWriter<PandasRows, CellRows> {
  readonly #writer: CellWriter = new CellWriter();
  readonly #columns: readonly string[];
  readonly #converts: readonly Convert[];
  /** The columns of the file, and where in them those that are written are: -1 for one that the file does not have. */
  #known: PandasRows['columns'] | null = null;
  #positions: readonly number[] = [];

  constructor(columns: readonly string[], converts: ReadonlyMap<string, Convert>) {
    this.#columns = columns;
    this.#converts = columns.map((name) => converts.get(name) ?? asIs);
  }

  add(row: PandasRows): (() => TableError) | undefined {
    if (row.columns !== this.#known) {
      this.#known = row.columns;
      this.#positions = this.#columns.map((name) => row.columns.get(name) ?? -1);
    }
    let faulty = -1;
    for (let index = 0; index < this.#positions.length; index += 1) {
      const column = this.#positions[index] as number;
      if (row.unread !== undefined || column === -1 || row.isNull(column)) this.#writer.value(null);
      else if (!this.#write(row, column, this.#converts[index] as Convert)) {
        this.#writer.value(null);
        if (faulty === -1) faulty = column;
      }
    }
    return faulty === -1 ? row.unread : () => row.notUtf8(faulty);
  }

  isFull(rowCount: number): boolean {
    return isFullBatch(this.#writer, rowCount);
  }

  end(firstRow: number, rowCount: number, invalid: CellRows['invalid']): CellRows {
    return { firstRow, rowCount, invalid, ...endCells(this.#writer, rowCount * this.#columns.length) };
  }

  /** Writes a value. Returns false, and writes nothing, if it is not UTF-8. */
  #write(row: PandasRows, column: number, convert: Convert): boolean {
    if (convert === asIs) return row.write(this.#writer, column);
    const { bytes, starts, ends, escaped } = row.scanner;
    const index = row.field(column);
    if (escaped[index] === VERBATIM) {
      const [start, end] = [starts[index] as number, ends[index] as number];
      if (convert === toNumber && this.#writer.number(bytes, start, end)) return true;
      const truth = convert === toBoolean ? truthOf(bytes, start, end) : undefined;
      if (truth !== undefined) {
        this.#writer.value(truth);
        return true;
      }
    }
    const text = row.text(column);
    if (text !== null) this.#writer.value(convert(text));
    return text !== null;
  }
}
