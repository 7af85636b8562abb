import type { JsonlError } from '@svc/jsonl-v23';
import type { SectionRecord } from '../copy/section-totals.ts';
import type { IdempotencyClaim, StoredResponse } from '../idempotency/idempotency-store.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import type { ImportedRun } from '../runs/insert-imported-run.ts';
import type { ImportedResult } from '../runs/insert-results.ts';
import type { DatasetSummary } from './dataset-row.ts';
import type { DatasetMeta } from './insert/insert-dataset.ts';
import type { SectionWriter } from './section-writer.ts';

export interface DraftOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after every batch. */
  readonly onProgress?: ((progress: DraftProgress) => void) | undefined;
  /** Does everything that an import does up to the commit, and stores nothing. */
  readonly dryRun?: boolean | undefined;
}

/** How far an import is. */
export interface DraftProgress {
  readonly items: number;
  /** Rows that were read, with those that have not become items. */
  readonly rowsRead: number;
  /** Items of the sections that said how many they have; null where unknown. */
  readonly itemsTotal: number | null;
  /** Of what the import reads, if it says so by `countBytesOf`; else of lines as they were read, or of rows as stored. */
  readonly bytes: number;
}

/** What an import reads. */
export interface ReadSource {
  /** So far. */
  readonly readBytes: number;
  /** Of the files that the rows are in, as they are stored; of archives, which count their own expansion, absent. */
  readonly fileBytes?: number;
}

/** Rows that are no items: the first 100, and how many. */
export interface FaultList {
  readonly first: readonly JsonlError[];
  readonly total: number;
}

/** What is known of a section before its first row. */
export interface SectionOptions {
  /** Items that it will have, as far as known; for the progress. */
  readonly itemsTotal?: number | null | undefined;
  /** The file that its rows come from, for their errors. */
  readonly file?: string | undefined;
}

/**
 * A dataset that is being written: invisible until `commit`, gone when it is disposed without. The connection is taken with
 * the first row. All methods throw StoreError `unavailable`, and those that write rows JsonlError `package_limit` (see `StoreOptions.importLimits`).
 *
 * @example
 * await using draft = await store.datasets.begin({ signal });
 * await draft.section('default').writeLines(batches, { file, maxDepth, maxLineBytes });
 * await draft.insert({ name, description, notes, source, schema });
 * const dataset = await draft.commit();
 */
export interface DatasetDraft extends AsyncDisposable {
  /** Adds a section; write its items before you add the next one. */
  section(name: string, options?: SectionOptions): SectionWriter;
  readonly progress: DraftProgress;
  /**
   * Takes the bytes of the progress from what the import reads. The rows of tables may make only so many bytes of items as
   * their files allow: call it before the first row, for rows that are read on the way.
   */
  countBytesOf(source: ReadSource): void;
  /** Lines and rows that refuse the dataset: it cannot be inserted. */
  readonly faults: FaultList;
  /** Adds a fault that no row of a batch has, such as the place from which on a file cannot be read. */
  addFault(error: JsonlError): void;
  /** Rows that the mapping skips; null where none skips rows. */
  readonly skipped: FaultList | null;
  /** Discards all sections, rows and faults, so that the import can begin again. */
  restart(): Promise<void>;
  /** Counts and hashes of all sections (item-v23, section 4). Ends the last section. */
  readonly hashes: { readonly versionHash: string; readonly sections: readonly SectionRecord[] };
  /**
   * Inserts the dataset and its sections; those of a small import are sent to the database with what comes next, at the
   * latest with the commit. A dry run checks the texts alone.
   *
   * @throws StoreError `invalid_request` for a text that cannot be stored
   */
  insert(meta: DatasetMeta): Promise<Pick<DatasetSummary, 'id' | 'versionHash'>>;
  /**
   * Inserts a finished run of the dataset with its results. Call it after `insert`.
   *
   * @param results in batches, each result once, of items of the dataset
   * @throws what `results` throws
   */
  insertRun(run: ImportedRun, results: AsyncIterable<readonly ImportedResult[]>): Promise<void>;
  /**
   * Ends the job that imports the dataset as succeeded. Call it after `insert`.
   *
   * @throws StoreError `superseded`, `job_finished`: the dataset must not be stored then
   */
  completeJob(claim: TaskClaim): Promise<void>;
  /**
   * Stores the response to an idempotent request. Call it after `insert`.
   *
   * @throws StoreError `superseded`: the dataset must not be stored then
   */
  saveResponse(
    claim: IdempotencyClaim,
    responseOf: (dataset: DatasetSummary) => StoredResponse,
  ): Promise<void>;
  /** Commits. When the connection breaks during the commit, finds out whether the transaction committed. */
  commit(): Promise<DatasetSummary>;
}
