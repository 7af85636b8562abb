export { TOOLS, WRITTEN_TOOLS, type WrittenTool } from '@svc/formats';
export { ImportErrors } from '@svc/jsonl-v23/imports';
export {
  type PreviewItem,
  type PreviewRows,
  type SkippedFiles,
  skippedFilesJson,
} from '@svc/tabular/datasets';
export type { TableColumn } from '@svc/tabular/write';
export * from './export-package.ts';
export { exportTool } from './export-tool.ts';
export * from './hub.ts';
export * from './import-dataset.ts';
export * from './plan-run.ts';
export { previewUpload, type UploadPreview } from './preview-upload.ts';
export { MAX_REJECTED, type PushOutcome, pushResults, pushScores } from './push-results.ts';
export * from './requests.ts';
export { createTurns, type Turns } from './run/turns.ts';
export { type RunDatasetDeps, type RunDatasetOptions, runDataset } from './run-dataset.ts';
export { type EditedItem, editsSource, filesSource } from './sources/files-source.ts';
export * from './sources/open-upload.ts';
export { packageSource } from './sources/package-source.ts';
export { type TableFile, UploadError } from './sources/uploaded-file.ts';
export * from './stage-content.ts';
export { ITEM_COLUMNS, OTHER_ITEM_COLUMNS } from './tables/item-columns.ts';
export * from './tables/tables.ts';
export type { ItemText } from './threads/read-edits.ts';
export { createThreadReader, type ThreadReader } from './threads/thread-reader.ts';
export { createToolConverter, type ToolConverter } from './threads/tool-converter.ts';
export { linkOf, type TriedItem, type TryRunDeps, type TryRunRequest, tryRun } from './try-run.ts';
