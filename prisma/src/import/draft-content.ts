import type { DatasetSummary } from '../database/dataset-row.ts';
import type { IdempotencyClaim, StoredResponse } from '../idempotency/idempotency-store.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import type { ImportedRun } from '../runs/write/insert-imported-run.ts';
import type { ImportedResult } from '../runs/write/written-result.ts';
import type { ChangedDataset, DatasetChange } from '../versions/change-dataset.ts';
import type { DatasetMeta } from './insert-dataset.ts';

/** What a dataset is made of besides its items. */
export interface DraftContent {
  readonly dataset: DatasetMeta;
  /** A finished run of the dataset, with its results in batches: each once, of items of the dataset. */
  readonly run?: {
    readonly facts: ImportedRun;
    readonly results: AsyncIterable<readonly ImportedResult[]>;
    /** Whether it belongs to a dataset that has its items, if there is one; by `ids`, that has those whose hashes are their ids; `ids only` if its own items are nothing but ids. */
    readonly joins?: 'items' | 'ids' | 'ids only' | null;
  } | null;
}

export interface DraftCommit extends DraftContent {
  /** The job that imports the dataset, which succeeds with it. */
  readonly job?: TaskClaim | undefined;
  /** The idempotent request that imports the dataset, and its response. */
  readonly response?:
    | { readonly claim: IdempotencyClaim; readonly of: (dataset: DatasetSummary) => StoredResponse }
    | undefined;
}

/** A dataset after a change. */
export interface ChangedDraft {
  readonly changed: ChangedDataset;
  readonly dataset: DatasetSummary;
}

/** A run that was added to a dataset. */
export interface JoinedRun {
  readonly dataset: DatasetSummary;
  readonly runId: string;
}

/** What ends with a run that joins a dataset. */
export interface JoinEnd extends Pick<DraftCommit, 'job'> {
  readonly response?:
    | { readonly claim: IdempotencyClaim; readonly of: (joined: JoinedRun) => StoredResponse }
    | undefined;
}

export interface DraftChange {
  readonly change: Omit<DatasetChange, 'staged'>;
  /** Whether the source names its sections; else their names are only defaults. Default true. */
  readonly namesSections?: boolean | undefined;
  readonly job?: TaskClaim | undefined;
  readonly response?:
    | { readonly claim: IdempotencyClaim; readonly of: (changed: ChangedDraft) => StoredResponse }
    | undefined;
  readonly dryRun?: boolean | undefined;
}
