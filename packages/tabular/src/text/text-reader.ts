import type { TableError } from '../errors.ts';
import type { Schema } from '../schema/infer-schema.ts';
import type { Inference } from '../schema/inference.ts';
import type { Table } from '../table.ts';
import type { CachedFile } from './cached-file.ts';
import type { LoaderParams, TextColumns } from './raw-row.ts';

/** How the files of some tables are read. */
export interface FormatOptions {
  /** Parameters of the format; default none. */
  readonly params?: LoaderParams;
  /** Columns of CSV files that keep their texts, whatever type they would have. */
  readonly textColumns?: TextColumns | undefined;
  /** Whether reading continues after lines of JSON Lines, and rows of CSV with too many fields, that cannot be read. */
  readonly skipsInvalid?: boolean | undefined;
}

/** A row of a file. */
export interface FoundRow {
  /** Length in the file. */
  readonly size: number;
  /** Why the row cannot be read; absent if it can. */
  readonly unread?: (() => TableError) | undefined;
}

/** Rows that have arrived. */
export interface ArrivedRows<Row> {
  /** Returns the next row, which is valid until the one after it; null if more must arrive. */
  next(): Row | null;
}

/** Reads the files of a format. */
export interface TextReader<Row extends FoundRow> {
  readonly inference: Inference<Row>;
  /** The rows of a file, as they arrive. */
  rowsOf(file: CachedFile, signal: AbortSignal | undefined): AsyncGenerator<ArrivedRows<Row>>;
  /** The readers of a table that has these rows. */
  readersOf(
    schema: Schema,
    rows: (signal: AbortSignal | undefined) => AsyncIterable<ArrivedRows<Row>>,
  ): Pick<Table, 'read'>;
}
