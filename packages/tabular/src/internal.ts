/** What the other packages of this repository need beyond the public names. Not part of the public API. */

export { type Compression, decompress } from '#runtime';
export { shorten } from './errors.ts';
export { baseName, compressionOf, type DataFormat, suffixes } from './files/file-format.ts';
export { readTextFile } from './files/open-file-table.ts';
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
export { openSection, planMapping, typedColumns, withTypes } from './sections/plan-mapping.ts';
export {
  type SkippedFile,
  type SkippedFiles,
  skippedByName,
  skippedFilesJson,
} from './sections/skipped-files.ts';
export {
  datasetNameOf,
  type InputFile,
  limitContent,
  locateError,
  sourceOf,
  type TableFile,
} from './sections/table-file.ts';
export {
  chooseContents,
  MAX_FILES,
  type PackedFile,
  tableFiles,
  unpackFiles,
} from './sections/unpack-files.ts';
export { createYielder, inSlices, joinSignals } from './source/turns.ts';
export { readRows } from './text/read-rows.ts';
