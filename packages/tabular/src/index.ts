export { type Compression, decompress } from '#runtime';
export { shorten, TableError, type TableErrorCode } from './errors.ts';
export { detectFormat } from './files/detect-format.ts';
export {
  compressionOf,
  type DetectedFile,
  FILE_FORMATS,
  type FileFormat,
  type FileOptions,
  type FormatHints,
} from './files/file-format.ts';
export { type FileTableOptions, openFileTable, readTextFile } from './files/open-file-table.ts';
export { type ReadTableOptions, readTable } from './files/read-table.ts';
export { openParquetTable, type ParquetTableOptions } from './parquet/parquet-table.ts';
export { dtypeOf, type Feature, type Features, featureFromJson, toMappable } from './schema/features.ts';
export { mergeFeatures } from './schema/merge-features.ts';
export type { ByteSource } from './source/byte-source.ts';
export { type ByteInput, type ByteSourceOptions, openByteSource } from './source/open-byte-source.ts';
export { createYielder, inSlices, joinSignals } from './source/turns.ts';
export type { RowBatch, RowRange, Table } from './table.ts';
export { openTextTables, type TextTablesOptions } from './text/text-table.ts';
