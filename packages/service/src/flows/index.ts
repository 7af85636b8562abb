export { TOOLS, WRITTEN_TOOLS, type WrittenTool } from '@svc/formats';
export { ImportErrors } from '@svc/jsonl-v23/internal';
export type { PreviewItem, PreviewRows, TruncatedCell } from '@svc/tabular/internal';
export { type SkippedFiles, skippedFilesJson } from '@svc/tabular/internal';
export type { TableColumn } from '@svc/tabular/write';
export { exportPackage } from './export-package.ts';
export { exportTool } from './export-tool.ts';
export {
  hubSource,
  openHub,
  openPreview,
  type Preview,
} from './hub.ts';
export {
  type DryRun,
  dryRun,
  type ImportError,
  type ImportFailure,
  type ImportNotes,
  type ImportSource,
  importDataset,
  importNotes,
  importNotesJson,
  type Observed,
  observeChange,
  observeImport,
  requestFailure,
} from './import-dataset.ts';
export {
  defaultJudgePrompts,
  type PlannedRun,
  planRun,
  sampleOf,
} from './plan-run.ts';
export { previewUpload, type UploadPreview } from './preview-upload.ts';
export { MAX_REJECTED, type PushOutcome, pushResults, pushScores } from './push-results.ts';
export {
  decodeImportRequest,
  decodeUploadRequest,
  encodeRequest,
  type FileRequest,
  type HubSource,
  type ImportJobRequest,
  toHubSource,
  toImportRequest,
  type UploadJobRequest,
} from './requests.ts';
export { createTurns, type Turns } from './run/turns.ts';
export { type RunDatasetDeps, type RunDatasetOptions, runDataset } from './run-dataset.ts';
export { type EditedItem, editsSource, filesSource } from './sources/files-source.ts';
export {
  furtherSources,
  type OpenUpload,
  type OpenUploadRequest,
  openUpload,
  uploadSource,
} from './sources/open-upload.ts';
export { packageSource } from './sources/package-source.ts';
export { type StagedFile, type Staging, type StagingFile, UploadStage } from './sources/stage-content.ts';
export { type TableFile, UploadError } from './sources/uploaded-file.ts';
export { ITEM_COLUMNS, OTHER_ITEM_COLUMNS } from './tables/item-columns.ts';
export { RESULT_COLUMNS } from './tables/result-columns.ts';
export {
  AUDIT_COLUMNS,
  auditTable,
  type FileExport,
  itemsTable,
  LABEL_TABLE_COLUMNS,
  labelsTable,
  MEDIA_TYPES,
  resultsTable,
  type TableFormat,
  type TableOptions,
} from './tables/tables.ts';
export type { ItemText } from './threads/read-edits.ts';
export { createThreadReader, type ThreadReader } from './threads/thread-reader.ts';
export { createToolConverter, type ToolConverter } from './threads/tool-converter.ts';
export { linkOf, type TriedItem, type TryRunDeps, type TryRunRequest, tryRun } from './try-run.ts';
