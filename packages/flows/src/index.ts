export type { TableColumn } from '@svc/tabular/write';
export { type ExportOptions, exportPackage, type PackageExport } from './export-package.ts';
export { type ImportError, ImportErrors } from './import-errors.ts';
export { type ImportFailure, type ObservedImport, observeImport, requestFailure } from './observe-import.ts';
export { type HubOptions, openHub } from './open-hub.ts';
export { type PlanRunDeps, type PlanRunRequest, planRun } from './plan-run.ts';
export type { PreviewRows } from './preview/collect-rows.ts';
export type { PreviewItem } from './preview/preview-items.ts';
export type { TruncatedCell } from './preview/preview-samples.ts';
export { type OpenPreview, openPreview, type Preview } from './preview-hub.ts';
export { LEGACY_PREVIEW, previewFiles, previewPackage, type UploadPreview } from './preview-upload.ts';
export {
  decodeImportRequest,
  decodeUploadRequest,
  encodeImportRequest,
  encodeUploadRequest,
  type FileRequest,
  type HubSource,
  type ImportRequest,
  toHubSource,
  toImportRequest,
  type UploadJobRequest,
  type UploadRequest,
} from './requests.ts';
export { createResultReader, type ResultReader } from './results/result-reader.ts';
export { defaultJudgePrompts } from './run/default-judge-prompts.ts';
export { createTurns, type Turns } from './run/turns.ts';
export { type RunDatasetDeps, type RunDatasetOptions, runDataset } from './run-dataset.ts';
export type { DryRun } from './sources/dry-run.ts';
export { dryRunPackage } from './sources/dry-run-package.ts';
export { dryRunTable, uploadTable } from './sources/files-source.ts';
export { dryRunHub, type ImportOptions, importHub } from './sources/hub-source.ts';
export type { UploadTableOptions } from './sources/item-lines.ts';
export { nameOfFile, type UploadOptions, uploadPackage } from './sources/package-source.ts';
export { partOf } from './sources/part-of.ts';
export {
  type Recognised,
  recogniseUpload,
  requireMapping,
  type TableFile,
  type UploadedFile,
} from './sources/recognise.ts';
export { type UnpackedFile, unpackFiles } from './sources/unpack.ts';
export { UploadError } from './sources/upload-error.ts';
export { ITEM_COLUMNS, OTHER_ITEM_COLUMNS } from './tables/item-columns.ts';
export { type ItemsTableOptions, itemsTable } from './tables/items-table.ts';
export { RESULT_COLUMNS } from './tables/result-columns.ts';
export { resultsTable } from './tables/results-table.ts';
export { MEDIA_TYPES, type TableExport, type TableFormat, type TableOptions } from './tables/table-export.ts';
