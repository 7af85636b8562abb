/** `@svc/tabular/write`, for Node: tables as CSV and Parquet. */

export type { RowGroup } from './parquet/metadata.ts';
export {
  type EncodedRowGroup,
  encodeRowGroup,
  PARQUET_MAGIC,
  parquetFooter,
  parquetWriterVersion,
  writeParquet,
} from './parquet/write-parquet.ts';
export type {
  ColumnType,
  ImageColumn,
  ParquetColumn,
  ParquetImage,
  TableColumn,
  TextsColumn,
} from './table-column.ts';
export { type CsvOptions, writeCsv } from './write-csv.ts';
