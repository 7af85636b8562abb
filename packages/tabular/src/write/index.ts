/** `@svc/tabular/write`, for Node: tables as CSV and Parquet. */

export type { RowGroup } from './parquet/metadata.ts';
export type { ImageColumn, ParquetColumn, ParquetImage, TextsColumn } from './parquet/parquet-column.ts';
export {
  type EncodedRowGroup,
  encodeRowGroup,
  PARQUET_MAGIC,
  parquetFooter,
  parquetWriterVersion,
  writeParquet,
} from './parquet/write-parquet.ts';
export type { ColumnType, TableColumn } from './table-column.ts';
export { type CsvOptions, writeCsv } from './write-csv.ts';
