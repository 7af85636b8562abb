export { collectSections, type SectionCollector } from './collect-sections.ts';
export {
  type ExportOptions,
  exportPackage,
  type OpenStoredDataset,
  type PackageExport,
  packageFileName,
  type StoredResultRow,
  type StoredRun,
  type StoredSectionRow,
} from './export-package.ts';
export type { DatasetRef, Hub, HubDataset, HubRow, SplitReader } from './hub-port.ts';
export {
  type DryRun,
  dryRunHub,
  featureMap,
  type ImportHubOptions,
  type ImportHubPorts,
  importHub,
} from './import-hub.ts';
export {
  type HubSource,
  type ImportRequest,
  importRequestToJson,
  toHubSource,
  toImportRequest,
} from './import-request.ts';
export { mapOrdered } from './map-ordered.ts';
export { type ImportFailure, type ImportProgress, observeImport } from './observe-import.ts';
export { openHub } from './open-hub.ts';
export type {
  DatasetSource,
  DatasetSummary,
  DatasetWriter,
  EncodedRows,
  FilledLines,
  ImportOutcome,
  ItemFiles,
  LineOptions,
  NeedsFiles,
  OutcomeSection,
  RowEncoder,
  RowPlan,
  SectionSummary,
  SectionTarget,
} from './ports.ts';
export { type Preview, type PreviewOptions, previewHub } from './preview-hub.ts';
export type { TruncatedCell } from './preview-samples.ts';
export { provenanceOf } from './provenance.ts';
export { executeRun, type RunOptions, type RunPorts } from './run-dataset.ts';
export { type UploadOptions, type UploadPorts, uploadPackage } from './upload-package.ts';
