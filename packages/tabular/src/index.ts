export type { CsvOptions } from './csv/open-csv-table.ts';
export { TableError, type TableErrorCode, type TableErrorOptions } from './errors.ts';
export { decompressFile } from './files/decompress-file.ts';
export { detectFormat } from './files/detect-format.ts';
export {
  type DetectedFile,
  type DetectOptions,
  FILE_FORMATS,
  type FileFormat,
  type FileOptions,
  type FormatHints,
} from './files/file-format.ts';
export { type FileTableOptions, openFileTable } from './files/open-file-table.ts';
export { type ReadTableOptions, readTable } from './files/read-table.ts';
export { readTextFile } from './files/read-text-file.ts';
export { compressionOf, type DataFormat, type FileCompression } from './format.ts';
export { openParquetTable, type ParquetTableOptions } from './parquet/parquet-table.ts';
export { dtypeOf, type Feature, type Features, type Media, type NamedFeature } from './schema/features.ts';
export { mergeFeatures } from './schema/merge-features.ts';
export type { ByteSource } from './source/byte-source.ts';
export { type ByteInput, type ByteSourceOptions, openByteSource } from './source/open-byte-source.ts';
export type { CellRows, RowBatch, RowRange, Table } from './table.ts';
export { openTextTables, type TextTablesOptions } from './text/text-table.ts';
