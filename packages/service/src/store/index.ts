export { assetNotFound } from './assets/assets.ts';
export { AUDIT_ACTIONS, type AuditAction, actAs, checkOwnHandle, HANDLE_PREFIX } from './audit/actor.ts';
export type { AuditConditions, AuditEntry } from './audit/audit-store.ts';
export { type Cancellations, createStore, type Store, type StoreOptions } from './create-store.ts';
export type { DatasetSummary, SectionSummary, StoredSection } from './database/dataset-row.ts';
export { operatorMessage, StoreError, type StoreErrorCode } from './database/errors.ts';
export type { Page } from './database/page.ts';
export { joinStoredItem, readStoredJson, toCorrupt } from './database/read-stored-json.ts';
export type { DatasetChanges } from './datasets/dataset-store.ts';
export {
  DATASET_ORDERS,
  type DatasetOrder,
  type LastRun,
  type ListedDataset,
} from './datasets/list-datasets.ts';
export type { ExportedRun, OpenDataset } from './datasets/open-dataset.ts';
export type { DiffCounts, ItemChange } from './diff/compare-sections.ts';
export type { DiffEntry, ItemPosition } from './diff/read-differences.ts';
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
  IdempotencyStore,
  Idempotent,
  StoredResponse,
} from './idempotency/idempotency-store.ts';
export { datasetExists } from './import/commit-draft.ts';
export { type DatasetDraft, type DraftProgress, ImportReport, type SectionWriter } from './import/draft.ts';
export type {
  DraftContent,
  ImportTarget,
  NewDatasetTarget,
  ReadSource,
  StoredImport,
} from './import/draft-content.ts';
export type { FaultList } from './import/encode/encode-rows.ts';
export type { ItemFileSource } from './import/encode/encode-with-files.ts';
export type { TableRows } from './import/encode/rows-to-lines.ts';
export type { ItemLine } from './items/item-lines.ts';
export { cutRange, cutRanges, type SectionRange } from './items/item-ranges.ts';
export {
  type ItemsPage,
  type ItemsRequest,
  type ListedItem,
  type StoredItem,
  sectionNotFound,
} from './items/list-items.ts';
export type { Job, JobProgress, JobStore, TakenJob } from './jobs/job-store.ts';
export { migrate } from './migrate/migrate.ts';
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
export type { RetryOnly, RunChange } from './runs/change-run.ts';
export type { NewRun } from './runs/create-run.ts';
export type { ItemReference, LocatedItem } from './runs/external/locate-items.ts';
export type { PendingResult, PendingResults } from './runs/external/pending.ts';
export type { PushSession, ScoredResult, ScoreSession } from './runs/external/sessions.ts';
export type { StoredLabel } from './runs/labels/result-labels.ts';
export {
  AGREEMENT_CELLS,
  type AgreementCell,
  type JudgedResult,
  type LabelConditions,
  type LabelOfResult,
} from './runs/labels/run-labels.ts';
export { RUNS_SORTS, type RunsSort, type UsedModel } from './runs/list-runs.ts';
export type { ResultName } from './runs/results/items-of-results.ts';
export type { ResultWithItem } from './runs/results/list-results.ts';
export type { ResultsConditions } from './runs/results/results-filter.ts';
export type { RunErrorExample, RunErrorGroup } from './runs/results/run-errors.ts';
export { RESULTS_SORTS } from './runs/results/search-results.ts';
export type { LabelledResult, StoredResult } from './runs/run-results.ts';
export type { Run, RunStatus } from './runs/run-row.ts';
export type { TakenRun } from './runs/run-session.ts';
export type { OpenRun } from './runs/run-store.ts';
export type {
  ComparedMeans,
  CompareRequest,
  RunComparison,
  RunDifference,
} from './runs/scores/compare-runs.ts';
export { PAIR_BY, type PairBy } from './runs/scores/compare-sql.ts';
export type { RunSlice, RunSummary } from './runs/scores/summarize-run.ts';
export {
  type ImportedResult,
  MAX_SCORERS,
  MAX_TEXT_CHARS,
  writeResult,
} from './runs/write/insert-results.ts';
export type { ChangedDataset, DatasetChange } from './versions/change-dataset.ts';
export { checkHandle } from './versions/handle.ts';
export type { ListedVersion } from './versions/list-versions.ts';
export type { Edit } from './versions/place-items.ts';
export type { RestoredDataset } from './versions/restore-version.ts';
