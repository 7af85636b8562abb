/** `@svc/tabular/datasets`: from tables to datasets, with previews. */

export {
  type CollectOptions,
  collectRows,
  type NumberedRow,
  type PreviewItem,
  type PreviewRows,
} from './preview/collect-rows.ts';
export {
  type FilesPreview,
  kindOf,
  type PreviewOptions,
  type PreviewPlan,
  planPreview,
  previewFiles,
  previewLines,
} from './preview/preview-files.ts';
export type { TruncatedCell } from './preview/preview-samples.ts';
export { fileSchema, type RowFacts, rowsSchema } from './provenance/file-schema.ts';
export { openSection, planMapping, type SectionTable, type TableFacts } from './sections/plan-mapping.ts';
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
  type ChooseOptions,
  type ChosenFiles,
  chooseTables,
  MAX_FILES,
  type PackedFile,
} from './sections/unpack-files.ts';
