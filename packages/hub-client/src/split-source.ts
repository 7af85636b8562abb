import type { JsonObject } from '@svc/jsonl-v23';
import type { Features } from './features.ts';

/** Some rows of a split, side by side. */
export interface RowBatch {
  /** Index of the first row in the split. */
  firstRow: number;
  rows: JsonObject[];
}

/** The files of one split, whatever their format. */
export interface SplitSource {
  /** The split's columns, as far as they were looked at. */
  readonly features: Features;
  /** Rows of the split; null where nobody has counted them. */
  readonly rowCount: number | null;
  /** Rows that are there for certain, though nobody has counted all. */
  readonly atLeastRows: number;
  /**
   * Reads rows `from` to `to` (exclusive; null means the end) in order.
   * @param columns members of every row, null where the split lacks the column
   */
  read(range: {
    from: number;
    to: number | null;
    columns: readonly string[];
    signal: AbortSignal | undefined;
  }): AsyncGenerator<RowBatch>;
}
