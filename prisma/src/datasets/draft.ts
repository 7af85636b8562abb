import { randomUUID } from 'node:crypto';
import { type JsonlError, type SourceLocation, versionHash } from '@svc/jsonl-v23';
import { ImportMeter, type LimitNames, type LineBatch } from '@svc/jsonl-v23/internal';
import { AssetWriter } from '../assets/asset-writer.ts';
import type { StoreContext } from '../context.ts';
import { createYielder } from '../copy/create-yielder.ts';
import { type EncodedBatch, encodeCells, encodeLines } from '../copy/encode-section.ts';
import type { EncodedRows, LineOptions } from '../copy/encoded-rows.ts';
import type { RowEncoder } from '../copy/row-encoder.ts';
import { RowFailureList, toFailure } from '../copy/row-failures.ts';
import { SectionTotals } from '../copy/section-totals.ts';
import type { HeldRows } from '../copy/transaction/held-rows.ts';
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
import type { DatasetDraft, DraftOptions, DraftProgress, ImportSource } from './dataset-draft.ts';
import type { DatasetSummary } from './dataset-row.ts';
import {
  checkTexts,
  type DatasetMeta,
  insertDataset,
  type NewDataset,
  summaryOf,
} from './insert/insert-dataset.ts';
import { storeSmallDataset, storesSmallDatasets } from './insert/store-small-dataset.ts';
import type { SectionWriter } from './section-writer.ts';

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
  #options: DraftOptions;
  readonly #permit: Disposable;
  readonly #id: string = randomUUID();
  readonly #sections: SectionTotals[] = [];
  /** Of the sections so far, once they were asked for. */
  #hashes: DatasetDraft['hashes'] | undefined;
  readonly #failures = new RowFailureList();
  #items = 0;
  #rowsRead = 0;
  #itemsTotal: number | null = null;
  #assets = 0;
  #bytes = 0;
  #source: ImportSource | undefined;
  readonly #meter: ImportMeter;
  readonly #context: StoreContext;
  #transaction: ItemsTransaction;
  #assetWriter: AssetWriter;
  /** What is to be inserted. */
  #dataset: NewDataset | undefined;
  #inserted: { readonly createdAt: Date; readonly transactionId: string } | undefined;

  constructor(context: StoreContext, options: DraftOptions, permit: Disposable) {
    this.#context = context;
    this.#encoder = context.encoder;
    this.#meter = new ImportMeter(context.importLimits, LIMIT_NAMES);
    this.#transaction = new ItemsTransaction({ ...context, signal: options.signal });
    this.#assetWriter = new AssetWriter(context.assets, options.signal);
    this.#options = options;
    this.#permit = permit;
  }

  section(name: string, itemsTotal: number | null = null): SectionWriter {
    this.#sections.at(-1)?.end();
    this.#hashes = undefined;
    const section = new SectionTotals(randomUUID(), name, this.#sections.length);
    this.#sections.push(section);
    if (itemsTotal !== null) this.#itemsTotal = (this.#itemsTotal ?? 0) + itemsTotal;
    const { signal, dryRun = false } = this.#options;
    const encoder = this.#encoder;
    return {
      writeLines: (batches, options) => {
        const locate = (): SourceLocation => ({ file: options.file });
        const rows = this.#countRows(batches, ({ itemCount }) => itemCount, locate);
        return this.#write(section, encodeLines(encoder, section.id, rows, options, signal), locate);
      },
      writeCells: (batches, plan) => {
        const locate = (row: number): SourceLocation => ({ row });
        const rows = this.#countRows(batches, ({ rowCount }) => rowCount, locate);
        const collectsFailures = dryRun || plan.mapping.invalidRows === 'skip';
        return this.#write(
          section,
          encodeCells(encoder, section.id, rows, { ...plan, collectsFailures }),
          locate,
        );
      },
    };
  }

  get progress(): DraftProgress {
    const bytes = this.#source?.readBytes ?? this.#bytes;
    return { items: this.#items, rowsRead: this.#rowsRead, itemsTotal: this.#itemsTotal, bytes };
  }

  countBytesOf(source: ImportSource): void {
    this.#source = source;
  }

  get failures(): { readonly first: readonly JsonlError[]; readonly total: number } {
    return this.#failures;
  }

  addFailure(error: JsonlError): void {
    this.#failures.add({ first: [toFailure(error)], total: 1 });
  }

  async restart(options?: { readonly dryRun: true }): Promise<void> {
    await this.#transaction[Symbol.asyncDispose]();
    const { signal } = this.#options;
    if (options !== undefined) this.#options = { signal, ...options };
    this.#transaction = new ItemsTransaction({ ...this.#context, signal });
    this.#assetWriter = new AssetWriter(this.#context.assets, signal);
    this.#sections.length = 0;
    this.#hashes = undefined;
    this.#failures.clear();
    this.#items = 0;
    this.#rowsRead = 0;
    this.#itemsTotal = null;
    this.#assets = 0;
    this.#bytes = 0;
    this.#meter.reset();
  }

  locateFailures(file: string): void {
    this.#failures.locate(file);
  }

  get hashes(): DatasetDraft['hashes'] {
    if (this.#hashes === undefined) {
      const sections = this.#sections.map((section) => section.end());
      const hashes = sections.map(({ sectionHash }) => sectionHash);
      this.#hashes = { sections, versionHash: versionHash(hashes) };
    }
    return this.#hashes;
  }

  async insert(meta: DatasetMeta): Promise<Pick<DatasetSummary, 'id' | 'versionHash'>> {
    const { sections, versionHash } = this.hashes;
    const counts = { itemCount: this.#items, assetCount: this.#assets };
    this.#dataset = { ...meta, ...counts, id: this.#id, versionHash };
    checkTexts(this.#dataset, sections);
    if (this.#smallRows === null) await this.#insertNow();
    return this.#dataset;
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
    await this.#insertNow();
    await this.#transaction.run((client) => insertImportedRun(client, dataset, run, results));
  }

  async completeJob(claim: TaskClaim): Promise<void> {
    await this.#insertNow();
    await this.#transaction.run((client) => completeJob(client, claim, this.#id));
  }

  async saveResponse(
    claim: IdempotencyClaim,
    responseOf: (dataset: DatasetSummary) => StoredResponse,
  ): Promise<void> {
    const { createdAt } = await this.#insertNow();
    const response = responseOf(this.#summaryOf(createdAt));
    await this.#transaction.run((client) => completeClaim(client, claim, response));
  }

  async commit(): Promise<DatasetSummary> {
    const items = this.#inserted === undefined ? this.#smallRows : null;
    if (items !== null) {
      const { signal } = this.#options;
      signal?.throwIfAborted();
      const { pool } = this.#context;
      return this.#summaryOf(await storeSmallDataset(pool, this.#known, this.hashes.sections, items));
    }
    const { createdAt, transactionId } = await this.#insertNow();
    // As late as possible: a concurrent import of the same files waits from here to the commit.
    if (!this.#assetWriter.isEmpty) {
      await this.#transaction.run((client) => this.#assetWriter.store(client, this.#id));
    }
    await this.#transaction.commit(transactionId);
    return this.#summaryOf(createdAt);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#transaction[Symbol.asyncDispose]();
    } finally {
      this.#permit[Symbol.dispose]();
    }
  }

  /** The rows of an import that one statement can store; else null. */
  get #smallRows(): HeldRows | null {
    if (!this.#assetWriter.isEmpty || !storesSmallDatasets(this.#context.pool)) return null;
    return this.#transaction.heldRows;
  }

  get #known(): NewDataset {
    if (this.#dataset === undefined) throw new Error('A draft needs a dataset before it can be committed.');
    return this.#dataset;
  }

  #summaryOf(createdAt: Date): DatasetSummary {
    return summaryOf(this.#known, this.hashes.sections, createdAt);
  }

  /** Inserts the dataset in the transaction of its rows, unless that is done. */
  async #insertNow(): Promise<{ readonly createdAt: Date; readonly transactionId: string }> {
    if (this.#inserted !== undefined) return this.#inserted;
    const dataset = this.#known;
    const { sections } = this.hashes;
    const inserted = await this.#transaction.runAfterRows((client) =>
      insertDataset(client, this.#context.pool, dataset, sections),
    );
    const stored = await this.#transaction.endCopy();
    if (stored !== this.#items) {
      throw new Error(`${stored} items were stored, and ${this.#items} were counted.`);
    }
    await this.#transaction.join();
    this.#inserted = inserted;
    return inserted;
  }

  async #write(
    section: SectionTotals,
    batches: AsyncIterable<EncodedBatch>,
    locate: (row: number) => SourceLocation,
  ): Promise<void> {
    const counted = this.#count(section, batches, locate);
    if (this.#options.dryRun !== true) await this.#transaction.write(section.id, counted);
    else for await (const rows of counted) if (typeof rows !== 'function') this.#encoder.recycle(rows);
    // The last bytes of a source may come after its last row.
    this.#options.onProgress?.(this.progress);
  }

  /** Counts the rows of batches as they are read. */
  async *#countRows<T>(
    batches: AsyncIterable<T>,
    rowsOf: (batch: T) => number,
    locate: (row: number) => SourceLocation,
  ): AsyncGenerator<T> {
    let rows = 0;
    for await (const batch of batches) {
      const count = rowsOf(batch);
      rows += count;
      this.#rowsRead += count;
      this.#meter.addRows(count, locate(rows - 1));
      yield batch;
    }
  }

  /** Counts and hashes batches as they pass. */
  async *#count(
    section: SectionTotals,
    batches: AsyncIterable<EncodedBatch>,
    locate: (row: number) => SourceLocation,
  ): AsyncGenerator<EncodedRows | TransactionStep> {
    const { signal, onProgress, dryRun = false } = this.#options;
    const { fileBytes } = this.#source ?? {};
    if (fileBytes !== undefined) this.#meter.setFileBytes(fileBytes);
    const yieldToEventLoop = createYielder();
    let rows = 0;
    for await (const { encoded, bytes } of batches) {
      signal?.throwIfAborted();
      const { itemCount, itemBytes, embeddedBytes, failures } = encoded;
      const skippedRows = failures?.total ?? 0;
      rows += itemCount + skippedRows;
      this.#meter.addItems({ bytes: itemBytes, embeddedBytes, skippedRows }, locate(rows - 1));
      section.add(encoded);
      this.#items += itemCount;
      this.#assets += encoded.assetCount;
      this.#bytes += bytes;
      if (failures !== null) this.#failures.add(failures);
      onProgress?.(this.progress);
      if (!dryRun) this.#assetWriter.add(encoded.contents);
      yield encoded;
      if (this.#assetWriter.isFull) yield (client) => this.#assetWriter.stage(client);
      await yieldToEventLoop();
    }
  }
}

/** The limits of imports as operators set them. */
const LIMIT_NAMES: LimitNames = {
  maxTotalBytes: 'SVC_MAX_UNCOMPRESSED_BYTES',
  maxExpansionRatio: 'SVC_MAX_EXPANSION_RATIO',
  maxRows: 'SVC_MAX_ROWS',
};
