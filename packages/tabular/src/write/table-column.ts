/** How a column of a written table is stored where a format has types. */
export type ColumnType = 'string' | 'json' | 'int64' | 'double' | 'bool';

/** A column of a table to write. */
export interface TableColumn<Row> {
  readonly name: string;
  readonly type: ColumnType;
  /** The value of a row as JSON text, with every digit; null for none. */
  readonly json: (row: Row) => string | null;
}
