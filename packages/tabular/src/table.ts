import { type Cells, CellWriter } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import type { TableError } from './errors.ts';
import type { Features } from './schema/features.ts';

/** Some rows of a split, side by side. */
export interface RowBatch {
  /** Index of the first row in the split. */
  firstRow: number;
  rows: JsonObject[];
}

/** Some rows of a split, side by side: the canonical JSON texts of their cells, row by row. */
export interface CellRows extends Cells {
  /** Index of the first row in the split. */
  firstRow: number;
  rowCount: number;
}

/** Which rows of a split are read, and what of them. */
export interface RowRange {
  from: number;
  /** Exclusive; null means the end. */
  to: number | null;
  /** Members of every row, null where the split lacks the column. */
  columns: readonly string[];
  signal: AbortSignal | undefined;
}

/** The files of one split, whatever their format. */
export interface SplitSource {
  /** The split's columns, as far as they were looked at. */
  readonly features: Features;
  /** The row at which looking at them ended early, because it cannot be read; it may have columns of its own. */
  readonly unreadRow?: TableError | undefined;
  /** Rows of the split; null where nobody has counted them. */
  readonly rowCount: number | null;
  /** Rows that are there for certain, though nobody has counted all. */
  readonly atLeastRows: number;
  /** Reads rows in order. */
  read(range: RowRange): AsyncGenerator<RowBatch>;
  /** The same rows as cells, in the order of the columns: several times as fast where the format allows it. */
  readCells(range: RowRange): AsyncGenerator<CellRows>;
}

/** Rows as cells, where a format has nothing faster. */
export async function* toCellRows(
  batches: AsyncIterable<RowBatch>,
  columns: readonly string[],
): AsyncGenerator<CellRows> {
  const writer = new CellWriter();
  for await (const { firstRow, rows } of batches) {
    for (const row of rows) for (const name of columns) writer.value(row[name] as JsonValue);
    yield { firstRow, rowCount: rows.length, ...writer.end() };
  }
}
