import type { UnreadRows } from '@svc/jsonl-v23/imports';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { TableError } from './errors.ts';
import type { Features } from './schema/features.ts';

/** Some consecutive rows of a table. */
export interface RowBatch {
  /** Index of the first row in the table. */
  readonly firstRow: number;
  readonly rows: readonly JsonObject[];
  /** Rows that cannot be read, of a table that continues after them; their values are null. */
  readonly invalid?: UnreadRows | undefined;
}

/** Which rows of a table are read, and which columns. */
export interface RowRange {
  /** Index of the first row; default 0. */
  readonly from?: number | undefined;
  /** Exclusive; default the end. */
  readonly to?: number | undefined;
  /** Members of every row, null in rows of files that do not have the column; default all columns. */
  readonly columns?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WholeRange {
  readonly from: number;
  /** Exclusive; infinite for the end. */
  readonly to: number;
  readonly columns: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** The rows of one or more files of the same format. */
export interface Table {
  /** The columns, as far as the files have been read: reading further may change their types. */
  readonly features: Features;
  /** What reading changes in the values, one sentence each: numbers of CSV files that are not written as in JSON. */
  readonly warnings?: readonly string[];
  /** The first row that could not be read when the columns were looked for; it may have further columns. */
  readonly unreadRow?: TableError | undefined;
  /** Absent if the rows have not been counted. */
  readonly rowCount?: number | undefined;
  /** Rows that exist even if not all have been counted. */
  readonly atLeastRows: number;
  /** Reads rows in order. @throws TableError; errors of the sources; the signal's reason */
  read(range?: RowRange): AsyncGenerator<RowBatch>;
}

export function wholeRange(features: Features, range: RowRange = {}): WholeRange {
  const { from = 0, to = Number.POSITIVE_INFINITY, signal } = range;
  return { from, to, columns: range.columns ?? features.map(({ name }) => name), signal };
}
