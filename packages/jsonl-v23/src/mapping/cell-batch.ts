import type { SourceLocation } from '../source-location.ts';
import type { Cells } from './cell-writer.ts';

/** Why a row cannot be read. */
export interface UnreadRow {
  readonly message: string;
  readonly location: SourceLocation;
}

/** Rows of one split as the cells of their columns, row by row. */
export interface CellBatch extends Cells {
  readonly split: string;
  /** 0-based, in the split. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
  /** Rows that could not be read, by their index in the batch; their cells are null, and they have no items. */
  readonly invalid?: ReadonlyMap<number, UnreadRow> | undefined;
}
