export type { Cancellations } from './cancellations.ts';
export { connectionConfig } from './connection-config.ts';
export { createStore, type Store, type StoreOptions } from './create-store.ts';
export type { StoredSection } from './dataset-row.ts';
export type { DatasetChanges, DatasetStore, DatasetsRequest } from './dataset-store.ts';
export type { DatasetDiff, DiffEntry, DiffRequest, ItemChange, ItemPosition } from './diff-datasets.ts';
export { type Account, firstBarredFolder } from './embedded-postgres/postgres-account.ts';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres/start-embedded-postgres.ts';
export { StoreError, type StoreErrorCode } from './errors.ts';
export type {
  IdempotencyClaim,
  IdempotencyOutcome,
  IdempotencyRequest,
  IdempotencyStore,
  StoredResponse,
} from './idempotency-store.ts';
export type {
  Job,
  JobClaim,
  JobKind,
  JobProgress,
  JobStatus,
  JobStore,
  NewJob,
  TakenJob,
} from './job-store.ts';
export type { ItemsPage, ItemsRequest, ListedItem, StoredItem } from './list-items.ts';
export { type Channel, type Listener, type ListenOptions, listen } from './listen.ts';
export { type MigrationOutcome, migrate } from './migrate.ts';
export type { OpenDataset } from './open-dataset.ts';
export type { Page, PageRequest } from './page.ts';
export {
  QUEUE_NAMES,
  QUEUE_OPTIONS,
  QUEUE_SCHEMA,
  type QueueName,
  type QueueSizes,
  type TaskData,
} from './queue.ts';
export { createRowEncoder } from './row-encoder.ts';
export type { ListedResult, StoredResult } from './run-results.ts';
export type { Run, RunStatus } from './run-row.ts';
export type { NewRun, ResultsPage, ResultsRequest, RunStore, RunsRequest, TakenRun } from './run-store.ts';
export type { SaveOptions } from './save-dataset.ts';
export { DEFAULT_SETTINGS, type Settings, type SettingsStore } from './settings-store.ts';
