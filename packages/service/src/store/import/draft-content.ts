import type { JsonObject } from '@svc/jsonl-v23/json';
import type { DatasetSource, DatasetSummary } from '../database/dataset-row.ts';
import type { Idempotent } from '../idempotency/idempotency-store.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import type { ImportedRun } from '../runs/write/insert-imported-run.ts';
import type { ImportedResult } from '../runs/write/insert-results.ts';
import type { ChangedDataset, DatasetChange } from '../versions/change-dataset.ts';
import type { Edit } from '../versions/place-items.ts';
import type { ItemRange } from '../versions/ranges.ts';
import type { LineOptions } from './encode/encode-rows.ts';
import type { ItemFileSource } from './encode/encode-with-files.ts';

export type ImportTarget = NewDatasetTarget | VersionTarget;

export interface NewDatasetTarget {
  readonly kind: 'dataset';
  /** Short name that no other dataset has. */
  readonly handle: string | null;
  /** What to do if a dataset with this handle exists, or, without a handle, one with the same name and hash. */
  readonly ifExists: 'reuse' | 'error' | 'version' | null;
  readonly message: string | null;
  readonly author: string | null;
}

export interface VersionTarget {
  readonly kind: 'version';
  readonly change: Omit<DatasetChange, 'staged' | 'edits' | 'provenance'>;
  /** The edits of mode `edit`, which no job has. */
  readonly edits?: readonly Edit[] | undefined;
}

export interface DatasetMeta {
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: DatasetSource;
  /** Provenance object as canonical JSON text, stored unchanged. */
  readonly schema: string;
}

export interface DraftContent {
  readonly dataset: DatasetMeta;
  /** What `schema` says of the files of a version to which its items are added. */
  readonly files?: readonly JsonObject[] | undefined;
  /** A finished run of the dataset, with its results in batches: each once, of items of the dataset. */
  readonly run?: {
    readonly facts: ImportedRun;
    readonly results: AsyncIterable<readonly ImportedResult[]>;
    /**
     * How the run finds an existing dataset to join: one with the same `items`; one with items whose hashes are its `ids`;
     * `ids only`: the same, and the run's own items are nothing but ids. By default it joins none.
     */
    readonly joins?: 'items' | 'ids' | 'ids only' | null;
  } | null;
}

export interface DraftCommit extends DraftContent {
  /** The job that imports the dataset, which succeeds with it; with what it says besides, JSON text of an object. */
  readonly job?: (TaskClaim & { readonly notes?: string | undefined }) | undefined;
  /** The idempotent request that imports the dataset, and its response. */
  readonly response?: Idempotent<StoredImport> | undefined;
}

export interface StoredImport {
  readonly dataset: DatasetSummary;
  /** Null for a new dataset, and for one that is used again. */
  readonly changed: ChangedDataset | null;
  readonly isNew: boolean;
  /** The run that was stored with it, or added to a dataset that has its items; null for none. */
  readonly runId: string | null;
}

export interface ReadSource {
  readonly readBytes: number;
  /** Size of the stored files that the rows come from; absent for archives, which count their own expansion. */
  readonly fileBytes?: number;
}

export interface SectionOptions {
  readonly itemsTotal?: number | null | undefined;
  /** Whether the source names it; else its name is only a default. Default true. */
  readonly isNamed?: boolean | undefined;
  readonly file?: string | undefined;
  /** Where its rows come from: the size of its files limits the bytes of items. */
  readonly read?: ReadSource | undefined;
}

export interface WriteLinesOptions extends LineOptions {
  /** The files of the archive that items refer to; without them, such items are faulty. Not with `origins`. */
  readonly files?: ItemFileSource | undefined;
}

/** Counts and hashes of all sections (item-v23, section 4). */
export interface DraftHashes {
  readonly versionHash: string;
  readonly sections: readonly SectionRecord[];
}

export interface SectionHead {
  readonly id: string;
  readonly name: string;
  /** Whether the source names it; else its name is only a default. */
  readonly isNamed: boolean;
  readonly orderIndex: number;
}

export interface SectionRecord extends SectionHead {
  readonly itemCount: number;
  readonly parts: readonly ItemRange[];
  readonly sectionHash: Uint8Array;
  /** From which the hash continues when items are appended. */
  readonly hashState: Uint8Array;
  /** Size and SHA-256 of the section's file in an export; null when its items embed files. */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
}
