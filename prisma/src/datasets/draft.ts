import { randomUUID } from 'node:crypto';
import { type JsonlError, versionHash } from '@svc/jsonl-v23';
import type { LineBatch } from '@svc/jsonl-v23/internal';
import { AssetWriter } from '../assets/asset-writer.ts';
import type { StoreContext } from '../context.ts';
import { createYielder } from '../copy/create-yielder.ts';
import { type EncodedBatch, encodeCells, encodeLines } from '../copy/encode-section.ts';
import type { EncodedRows, LineOptions } from '../copy/encoded-rows.ts';
import type { RowEncoder } from '../copy/row-encoder.ts';
import { RowFailureList, toFailure } from '../copy/row-failures.ts';
import { type SectionRecord, SectionTotals } from '../copy/section-totals.ts';
import { ItemsTransaction } from '../copy/transaction/items-transaction.ts';
import type { TransactionStep } from '../copy/transaction/section-source.ts';
import {
  completeClaim,
  type IdempotencyClaim,
  type StoredResponse,
} from '../idempotency/idempotency-store.ts';
import { completeJob } from '../jobs/end-job.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import { type ImportedRun, insertImportedRun } from '../runs/insert-imported-run.ts';
import type { ImportedResult } from '../runs/insert-results.ts';
import type { DatasetSummary } from './dataset-row.ts';
import { type DatasetMeta, insertDataset } from './insert-dataset.ts';
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

/**
 * A dataset that is being written: invisible until `commit`, gone when it is disposed without. The connection is taken with
 * the first row; of a large section, several may copy rows. All methods throw StoreError `unavailable`.
 *
 * @example
 * await using draft = await store.datasets.begin({ signal });
 * await draft.section('default').writeLines(batches, { file, maxDepth, maxLineBytes });
 * const dataset = await draft.insert({ name, description, notes, source, schema });
 * await draft.commit();
 */
export interface DatasetDraft extends AsyncDisposable {
  /**
   * Adds a section; write its items before you add the next one.
   *
   * @param itemsTotal items that it will have, as far as known; for the progress
   */
  section(name: string, itemsTotal?: number | null): SectionWriter;
  readonly progress: DraftProgress;
  /** Takes the bytes of the progress from what the import reads. */
  countBytesOf(source: { readonly readBytes: number }): void;
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
  /** Discards all sections, rows and failures, so that the import can begin again. */
  restart(): Promise<void>;
  /** Adds the name of a file to the failures so far that do not know theirs. */
  locateFailures(file: string): void;
  /** Counts and hashes of all sections (item-v23, section 4). Ends the last section. */
  readonly hashes: { readonly versionHash: string; readonly sections: readonly SectionRecord[] };
  /** Inserts the dataset and its sections. @throws StoreError `invalid_request` for a text that cannot be stored */
  insert(meta: DatasetMeta): Promise<DatasetSummary>;
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
  /** Stores the response to an idempotent request. @throws StoreError `superseded`: the dataset must not be stored then */
  saveResponse(claim: IdempotencyClaim, response: StoredResponse): Promise<void>;
  /** Commits. When the connection breaks during the commit, finds out whether the transaction committed. */
  commit(): Promise<void>;
}

/**
 * Waits for a permit to import, which the draft holds until it is disposed.
 *
 * @throws StoreError `unavailable` when no import ends in time; the signal's reason
 */
export async function beginDraft(context: StoreContext, options: DraftOptions): Promise<DatasetDraft> {
  return new Draft(context, options, await context.imports.acquire(options.signal));
}

class Draft implements DatasetDraft {
  readonly #encoder: RowEncoder;
  readonly #options: DraftOptions;
  readonly #permit: Disposable;
  readonly #id: string = randomUUID();
  readonly #sections: SectionTotals[] = [];
  readonly #failures = new RowFailureList();
  #items = 0;
  #rowsRead = 0;
  #itemsTotal: number | null = null;
  #assets = 0;
  #bytes = 0;
  #source: { readonly readBytes: number } | undefined;
  readonly #context: StoreContext;
  #transaction: ItemsTransaction;
  #assetWriter: AssetWriter;
  #transactionId: string | undefined;

  constructor(context: StoreContext, options: DraftOptions, permit: Disposable) {
    this.#context = context;
    this.#encoder = context.encoder;
    this.#transaction = new ItemsTransaction({ ...context, signal: options.signal });
    this.#assetWriter = new AssetWriter(context.assets, options.signal);
    this.#options = options;
    this.#permit = permit;
  }

  section(name: string, itemsTotal: number | null = null): SectionWriter {
    this.#sections.at(-1)?.end();
    const section = new SectionTotals(randomUUID(), name, this.#sections.length);
    this.#sections.push(section);
    if (itemsTotal !== null) this.#itemsTotal = (this.#itemsTotal ?? 0) + itemsTotal;
    const { signal, dryRun = false } = this.#options;
    const encoder = this.#encoder;
    return {
      writeLines: (batches, options) =>
        this.#write(
          section,
          encodeLines(
            encoder,
            section.id,
            this.#countRows(batches, ({ itemCount }) => itemCount),
            options,
            signal,
          ),
        ),
      writeCells: (batches, plan) =>
        this.#write(
          section,
          encodeCells(
            encoder,
            section.id,
            this.#countRows(batches, ({ rowCount }) => rowCount),
            { ...plan, collectsFailures: dryRun || plan.mapping.invalidRows === 'skip' },
          ),
        ),
    };
  }

  get progress(): DraftProgress {
    const bytes = this.#source?.readBytes ?? this.#bytes;
    return { items: this.#items, rowsRead: this.#rowsRead, itemsTotal: this.#itemsTotal, bytes };
  }

  countBytesOf(source: { readonly readBytes: number }): void {
    this.#source = source;
  }

  get failures(): { readonly first: readonly JsonlError[]; readonly total: number } {
    return this.#failures;
  }

  addFailure(error: JsonlError): void {
    this.#failures.add({ first: [toFailure(error)], total: 1 });
  }

  async restart(): Promise<void> {
    await this.#transaction[Symbol.asyncDispose]();
    const { signal } = this.#options;
    this.#transaction = new ItemsTransaction({ ...this.#context, signal });
    this.#assetWriter = new AssetWriter(this.#context.assets, signal);
    this.#sections.length = 0;
    this.#failures.clear();
    this.#items = 0;
    this.#rowsRead = 0;
    this.#itemsTotal = null;
    this.#assets = 0;
    this.#bytes = 0;
  }

  locateFailures(file: string): void {
    this.#failures.locate(file);
  }

  get hashes(): { readonly versionHash: string; readonly sections: readonly SectionRecord[] } {
    const sections = this.#sections.map((section) => section.end());
    return { sections, versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)) };
  }

  async insert(meta: DatasetMeta): Promise<DatasetSummary> {
    const { sections, versionHash } = this.hashes;
    const counts = { itemCount: this.#items, assetCount: this.#assets };
    const dataset = { ...meta, ...counts, id: this.#id, versionHash };
    const { summary, transactionId } = await this.#transaction.runAfterRows((client) =>
      insertDataset(client, this.#context.pool, dataset, sections),
    );
    const stored = await this.#transaction.endCopy();
    if (stored !== this.#items) {
      throw new Error(`${stored} items were stored, and ${this.#items} were counted.`);
    }
    await this.#transaction.join();
    this.#transactionId = transactionId;
    return summary;
  }

  async checkLines(batches: AsyncIterable<LineBatch>, options: LineOptions): Promise<void> {
    // The check may take long, and needs no connection.
    await this.#transaction[Symbol.asyncDispose]();
    const { signal } = this.#options;
    const encoder = this.#encoder;
    const checked = encodeLines(encoder, this.#id, batches, { ...options, collectsFailures: true }, signal);
    for await (const { encoded } of checked) {
      signal?.throwIfAborted();
      if (encoded.failures !== null) this.#failures.add(encoded.failures);
      encoder.recycle(encoded);
    }
  }

  async insertRun(run: ImportedRun, results: AsyncIterable<readonly ImportedResult[]>): Promise<void> {
    const dataset = { id: this.#id, versionHash: this.hashes.versionHash, itemCount: this.#items };
    await this.#transaction.run((client) => insertImportedRun(client, dataset, run, results));
  }

  async completeJob(claim: TaskClaim): Promise<void> {
    await this.#transaction.run((client) => completeJob(client, claim, this.#id));
  }

  async saveResponse(claim: IdempotencyClaim, response: StoredResponse): Promise<void> {
    await this.#transaction.run((client) => completeClaim(client, claim, response));
  }

  async commit(): Promise<void> {
    if (this.#transactionId === undefined) {
      throw new Error('A draft needs a dataset before it can be committed.');
    }
    // As late as possible: a concurrent import of the same files waits from here to the commit.
    if (!this.#assetWriter.isEmpty) {
      await this.#transaction.run((client) => this.#assetWriter.store(client, this.#id));
    }
    await this.#transaction.commit(this.#transactionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#transaction[Symbol.asyncDispose]();
    } finally {
      this.#permit[Symbol.dispose]();
    }
  }

  async #write(section: SectionTotals, batches: AsyncIterable<EncodedBatch>): Promise<void> {
    const counted = this.#count(section, batches);
    if (this.#options.dryRun !== true) await this.#transaction.write(section.id, counted);
    else for await (const rows of counted) if (typeof rows !== 'function') this.#encoder.recycle(rows);
    // The last bytes of a source may come after its last row.
    this.#options.onProgress?.(this.progress);
  }

  /** Counts the rows of batches as they are read. */
  async *#countRows<T>(batches: AsyncIterable<T>, rowsOf: (batch: T) => number): AsyncGenerator<T> {
    for await (const batch of batches) {
      this.#rowsRead += rowsOf(batch);
      yield batch;
    }
  }

  /** Counts and hashes batches as they pass. */
  async *#count(
    section: SectionTotals,
    batches: AsyncIterable<EncodedBatch>,
  ): AsyncGenerator<EncodedRows | TransactionStep> {
    const { signal, onProgress, dryRun = false } = this.#options;
    const yieldToEventLoop = createYielder();
    for await (const { encoded, bytes } of batches) {
      signal?.throwIfAborted();
      section.add(encoded);
      this.#items += encoded.itemCount;
      this.#assets += encoded.assetCount;
      this.#bytes += bytes;
      if (encoded.failures !== null) this.#failures.add(encoded.failures);
      onProgress?.(this.progress);
      if (!dryRun) this.#assetWriter.add(encoded.contents);
      yield encoded;
      if (this.#assetWriter.isFull) yield (client) => this.#assetWriter.stage(client);
      await yieldToEventLoop();
    }
  }
}
