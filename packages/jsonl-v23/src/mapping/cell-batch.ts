import type { Cells } from './cell-writer.ts';

/** Rows of one split as the cells of their columns, row by row. */
export interface CellBatch extends Cells {
  readonly split: string;
  /** 0-based, in the split. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
}
