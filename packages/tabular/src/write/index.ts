/** `@svc/tabular/write`, for Node: tables as CSV and Parquet. */

export { parquetWriterVersion, writeParquet } from './parquet/write-parquet.ts';
export type { ColumnType, TableColumn } from './table-column.ts';
export { type CsvOptions, writeCsv } from './write-csv.ts';
