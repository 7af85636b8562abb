/** What the other packages of this repository need beyond the public names. Not part of the public API. */

export { type Compression, decompress } from '#runtime';
export { shorten, TableError, type TableErrorCode } from './errors.ts';
export { readTextFile } from './files/read-text-file.ts';
export { datasetNameOf, sectionNames } from './files/section-names.ts';
export { baseName, compressionOf, type DataFormat, suffixes } from './format.ts';
export { openParquetTable } from './parquet/parquet-table.ts';
export type { PreviewItem } from './preview/collect-rows.ts';
export { type PreviewRows, RowsCollector } from './preview/collect-rows.ts';
export {
  type FilesPreview,
  kindOf,
  mappingWarnings,
  type PreviewOptions,
  previewFiles,
  promptWarnings,
  shownColumns,
  unusedColumnsJson,
  withWarnings,
} from './preview/preview-files.ts';
export type { TruncatedCell } from './preview/preview-samples.ts';
export { fileSchema, type RowFacts, rowsSchema, type SkippedRows } from './provenance/file-schema.ts';
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
export { JsonInference } from './schema/infer-json.ts';
export { inferSchema } from './schema/infer-schema.ts';
export { mergeFeatures } from './schema/merge-features.ts';
export { limitContent } from './sections/limit-content.ts';
export { openSection } from './sections/open-section.ts';
export { planMapping, typedColumns, withTypes } from './sections/plan-mapping.ts';
export {
  type SkippedFile,
  type SkippedFiles,
  skippedByName,
  skippedFilesJson,
} from './sections/skipped-files.ts';
export { type InputFile, locateError, sourceOf, type TableFile } from './sections/table-file.ts';
export {
  type ChosenFiles,
  chooseContents,
  MAX_FILES,
  type PackedFile,
  tableFiles,
  unpackFiles,
} from './sections/unpack-files.ts';
export type { ByteSource } from './source/byte-source.ts';
export { createYielder } from './source/create-yielder.ts';
export { inSlices } from './source/in-slices.ts';
export { joinSignals } from './source/join-signals.ts';
export type { RowBatch, Table } from './table.ts';
export { readRows } from './text/read-rows.ts';
export { openTextTables, type TextTablesOptions } from './text/text-table.ts';
