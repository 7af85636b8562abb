export type { AssetContent, AssetLocation, AssetStore, ByteRange } from './assets/asset-store.ts';
export { type Assets, assetNotFound, type DatasetAsset } from './assets/assets.ts';
export {
  type Actor,
  AUDIT_ACTIONS,
  type AuditAction,
  actAs,
  checkOwnHandle,
  HANDLE_PREFIX,
} from './audit/actor.ts';
export type { AuditConditions, AuditEntry } from './audit/audit-store.ts';
export {
  type Cancellations,
  createStore,
  type PoolState,
  type Store,
  type StoreOptions,
} from './create-store.ts';
export type { DatasetSource, DatasetSummary, SectionSummary, StoredSection } from './database/dataset-row.ts';
export { type OutageReason, operatorMessage, StoreError, type StoreErrorCode } from './database/errors.ts';
export type { Page, PageRequest } from './database/page.ts';
export { joinStoredItem, readStoredJson, toCorrupt } from './database/read-stored-json.ts';
export type { DatasetChanges, DatasetStore } from './datasets/dataset-store.ts';
export type { ComparedDataset, DatasetDiff, DiffRequest } from './datasets/diff-datasets.ts';
export type { LastRun } from './datasets/list-datasets.ts';
export {
  DATASET_ORDERS,
  type DatasetOrder,
  type DatasetsRequest,
  type ListedDataset,
} from './datasets/list-datasets.ts';
export type { ExportedRun, OpenDataset } from './datasets/open-dataset.ts';
export type { DiffCounts, ItemChange } from './diff/compare-sections.ts';
export type { ChangedField, DiffEntry, ItemPosition } from './diff/read-differences.ts';
export type {
  HubFile,
  HubFileLimits,
  HubFileStore,
  LayoutKey,
  ListedHubFile,
  MadeTable,
  SectionFiles,
} from './hub-files/hub-file-store.ts';
export type {
  IdempotencyClaim,
  IdempotencyOutcome,
  IdempotencyRequest,
  IdempotencyStore,
  Idempotent,
  StoredResponse,
} from './idempotency/idempotency-store.ts';
export { datasetExists } from './import/commit-draft.ts';
export { createDiskShare, DiskShortage, freeDiskBytes } from './import/disk-share.ts';
export { type DatasetDraft, type DraftOptions, ImportReport, type SectionWriter } from './import/draft.ts';
export type {
  DatasetMeta,
  DraftCommit,
  DraftContent,
  ImportTarget,
  NewDatasetTarget,
  ReadSource,
  StoredImport,
  VersionTarget,
  WriteLinesOptions,
} from './import/draft-content.ts';
export type { DraftProgress } from './import/draft-totals.ts';
export type { ItemFileSource } from './import/encode/encode-with-files.ts';
export type { FaultList, LineOptions, MappingPlan } from './import/encode/encoded-rows.ts';
export type { TableRows } from './import/encode/rows-to-lines.ts';
export type { ItemLine } from './items/item-lines.ts';
export { cutRange, cutRanges, type SectionRange } from './items/item-ranges.ts';
export type { ItemsPage, ItemsRequest, ListedItem, StoredItem } from './items/list-items.ts';
export { sectionNotFound } from './items/list-items.ts';
export type {
  Job,
  JobClaim,
  JobKind,
  JobProgress,
  JobStatus,
  JobStore,
  NewJob,
  TakenJob,
} from './jobs/job-store.ts';
export { type MigrationOutcome, migrate } from './migrate/migrate.ts';
export type { Measurements, QueueSizes } from './queue/measure.ts';
export {
  type ClaimedTask,
  LEASE_MS,
  MAX_ATTEMPTS,
  openTaskQueue,
  type TaskClaim,
  type TaskKind,
  type TaskQueue,
  type TaskTable,
} from './queue/task-queue.ts';
export {
  HISTORY_MINUTES,
  MinuteHistory,
  REPORT_MS,
  WorkerBoard,
  type WorkerReport,
} from './queue/worker-board.ts';
export type { RetryOnly, RunChange, ScorerAddition } from './runs/change-run.ts';
export type { NewRun } from './runs/create-run.ts';
export type { ItemReference, LocatedItem } from './runs/external/locate-items.ts';
export type { PendingResult, PendingResults } from './runs/external/pending.ts';
export type { PushSession, ScoredResult, ScoreSession } from './runs/external/sessions.ts';
export type { StoredLabel } from './runs/labels/result-labels.ts';
export type { LabelConditions, LabelOfResult, LabelSummary, NewLabel } from './runs/labels/run-labels.ts';
export {
  AGREEMENT_CELLS,
  type AgreementCell,
  type AgreementRequest,
  type JudgedResult,
} from './runs/labels/run-labels.ts';
export { RUNS_SORTS, type RunsRequest, type RunsSort, type UsedModel } from './runs/list-runs.ts';
export type { ItemOfResult, ResultName } from './runs/results/items-of-results.ts';
export type { ResultsPage, ResultsRequest, ResultWithItem } from './runs/results/list-results.ts';
export type { ResultsConditions } from './runs/results/results-filter.ts';
export type { RunErrorExample, RunErrorGroup } from './runs/results/run-errors.ts';
export { RESULTS_SORTS } from './runs/results/search-results.ts';
export type { LabelledResult, StoredResult } from './runs/run-results.ts';
export type { Run, RunStatus } from './runs/run-row.ts';
export type { TakenRun } from './runs/run-session.ts';
export type { OpenRun } from './runs/run-store.ts';
export type {
  ComparedMeans,
  ComparedSlice,
  CompareRequest,
  RunComparison,
  RunDifference,
} from './runs/scores/compare-runs.ts';
export { PAIR_BY, type PairBy } from './runs/scores/compare-sql.ts';
export type { PartScores, RunSlice, RunSummary } from './runs/scores/summarize-run.ts';
export type { ImportedRun } from './runs/write/insert-imported-run.ts';
export { type ImportedResult, MAX_TEXT_CHARS, writeResult } from './runs/write/insert-results.ts';
export { MAX_SCORERS } from './runs/write/result-counts.ts';
export { DEFAULT_SETTINGS, type Settings } from './settings/settings-store.ts';
export type { ChangedDataset, DatasetChange } from './versions/change-dataset.ts';
export { checkHandle } from './versions/handle.ts';
export type { ListedVersion } from './versions/list-versions.ts';
export type { Edit } from './versions/place-items.ts';
export type { RestoredDataset } from './versions/restore-version.ts';
