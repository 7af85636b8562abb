export { TableError, type TableErrorCode, type TableErrorOptions } from './errors.ts';
export { compressionOf, type DataFormat, type FileCompression } from './format.ts';
export { openParquetSource } from './parquet/parquet-source.ts';
export { dtypeOf, type Feature, type Features, type Media, type NamedFeature } from './schema/features.ts';
export {
  createInference,
  type RowTyping,
  type TextFormat,
  type TypingBuilder,
} from './schema/infer-schema.ts';
export { mergeFeatures } from './schema/merge-features.ts';
export type { ByteSource } from './source/byte-source.ts';
export type { CellRows, RowBatch, RowRange, SplitSource } from './table.ts';
export { DEFAULT_MAX_ROW_SIZE, type LoaderParams, type RawRow, type ReadOptions } from './text/raw-row.ts';
export { readRows } from './text/read-rows.ts';
export { openTextSources } from './text/text-source.ts';
