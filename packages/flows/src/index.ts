export type { TableColumn } from '@svc/tabular/write';
export { type ExportOptions, exportPackage, type PackageExport } from './export-package.ts';
export { dryRunPackage } from './files/dry-run-package.ts';
export type { UploadTableOptions } from './files/item-lines.ts';
export { partOf } from './files/part-of.ts';
export {
  type Recognised,
  recogniseUpload,
  requireMapping,
  type TableFile,
  type UploadedFile,
} from './files/recognise-upload.ts';
export { type UnpackedFile, unpackFiles } from './files/unpack-files.ts';
export { UploadError } from './files/upload-error.ts';
export { type ImportError, ImportErrors } from './import-errors.ts';
export { dryRunHub, type ImportOptions, importHub } from './import-hub.ts';
export type { DryRun } from './mapping/dry-run.ts';
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
export { ITEM_COLUMNS, OTHER_ITEM_COLUMNS } from './tables/item-columns.ts';
export { type ItemsTableOptions, itemsTable } from './tables/items-table.ts';
export { RESULT_COLUMNS } from './tables/result-columns.ts';
export { resultsTable } from './tables/results-table.ts';
export { MEDIA_TYPES, type TableExport, type TableFormat, type TableOptions } from './tables/table-export.ts';
export { nameOfFile, type UploadOptions, uploadPackage } from './upload-package.ts';
export { dryRunTable, uploadTable } from './upload-table.ts';
