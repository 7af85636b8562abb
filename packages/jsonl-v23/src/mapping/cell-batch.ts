import type { SourceLocation } from '../source-location.ts';
import type { Cells } from './cell-writer.ts';

/** Why a row cannot be read. */
export interface UnreadRow {
  readonly message: string;
  readonly location: SourceLocation;
}

/**
 * Rows of a batch that could not be read, by their index in the batch. Only the first {@link MAX_UNREAD_REASONS} have a
 * reason, the others null: every list of such rows is as long, and a file may have millions of them.
 */
export type UnreadRows = ReadonlyMap<number, UnreadRow | null>;

export const MAX_UNREAD_REASONS = 100;

/** For a row without a reason. */
export const NO_REASON: UnreadRow = { message: 'The row cannot be read.', location: {} };

/** Some consecutive rows of a table: the cells of their columns, row by row. */
export interface CellRows extends Cells {
  /** 0-based, in the table. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Rows that could not be read; their cells are null, and they have no items. */
  readonly invalid?: UnreadRows | undefined;
}

/** Rows of one split, which count from its first row, and the columns of their cells. */
export interface CellBatch extends CellRows {
  readonly split: string;
  /** Added to the number of a row in the id that is made of it; default 0. */
  readonly idOffset?: number | undefined;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
}
