/** What the other packages of this repository need beyond the public names. Not part of the public API. */

export { type Compression, decompress, yieldToEventLoop } from '#runtime';
export { shorten, TableError, type TableErrorCode } from './errors.ts';
export { datasetNameOf, sectionNames } from './files/section-names.ts';
export { tableSource } from './files/table-source.ts';
export { compressionOf, type DataFormat, type FileCompression, suffixes } from './format.ts';
export { openParquetTable } from './parquet/parquet-table.ts';
export { fileSchema, type SourceFile } from './provenance/file-schema.ts';
export { type RowFacts, rowsSchema, type SkippedRows } from './provenance/rows-schema.ts';
export {
  dtypeOf,
  type Feature,
  type Features,
  featureFromJson,
  listLength,
  type NamedFeature,
  sequenceOf,
  toMappable,
  valueFeature,
} from './schema/features.ts';
export { mergeFeatures } from './schema/merge-features.ts';
export type { ByteSource } from './source/byte-source.ts';
export { createYielder } from './source/create-yielder.ts';
export { inSlices } from './source/in-slices.ts';
export { joinSignals } from './source/join-signals.ts';
export type { Table } from './table.ts';
export { openTextTables, type TextTablesOptions } from './text/text-table.ts';
