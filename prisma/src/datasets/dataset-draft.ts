import type { JsonlError } from '@svc/jsonl-v23';
import type { LineBatch } from '@svc/jsonl-v23/internal';
import type { LineOptions } from '../copy/encoded-rows.ts';
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
  /** Encodes and counts rows, and stores nothing; rows that cannot be converted are collected in `failures`. */
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
export interface ImportSource {
  /** So far. */
  readonly readBytes: number;
  /** Of the files that the rows are in, as they are stored; of archives, which count their own expansion, absent. */
  readonly fileBytes?: number;
}

/**
 * A dataset that is being written: invisible until `commit`, gone when it is disposed without. The connection is taken with
 * the first row; of a large section, several may copy rows. All methods throw StoreError `unavailable`, and those that
 * write rows JsonlError `package_limit` (see `StoreOptions.importLimits`).
 *
 * @example
 * await using draft = await store.datasets.begin({ signal });
 * await draft.section('default').writeLines(batches, { file, maxDepth, maxLineBytes });
 * await draft.insert({ name, description, notes, source, schema });
 * const dataset = await draft.commit();
 */
export interface DatasetDraft extends AsyncDisposable {
  /**
   * Adds a section; write its items before you add the next one.
   *
   * @param itemsTotal items that it will have, as far as known; for the progress
   */
  section(name: string, itemsTotal?: number | null): SectionWriter;
  readonly progress: DraftProgress;
  /**
   * Takes the bytes of the progress from what the import reads. The rows of tables may make only so many bytes of items as
   * their files allow: call it before the first row, for rows that are read on the way.
   */
  countBytesOf(source: ImportSource): void;
  /**
   * Checks lines of a draft that has failed and stores nothing: counts the faulty ones in `failures`. Files are not read.
   *
   * @throws what `batches` throws; the signal's reason
   */
  checkLines(batches: AsyncIterable<LineBatch>, options: LineOptions): Promise<void>;
  /** Rows that could not be converted, of a dry run or skipped, or faulty lines: the first 100, and how many. */
  readonly failures: { readonly first: readonly JsonlError[]; readonly total: number };
  /** Adds a failure that no row of a batch has. */
  addFailure(error: JsonlError): void;
  /** Discards all sections, rows and failures, so that the import can begin again, or its dry run without progress. */
  restart(options?: { readonly dryRun: true }): Promise<void>;
  /** Adds the name of a file to the failures so far that do not know theirs. */
  locateFailures(file: string): void;
  /** Counts and hashes of all sections (item-v23, section 4). Ends the last section. */
  readonly hashes: { readonly versionHash: string; readonly sections: readonly SectionRecord[] };
  /**
   * Inserts the dataset and its sections; those of a small import are sent to the database with what comes next, at the
   * latest with the commit.
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
