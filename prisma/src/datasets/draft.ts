import { randomUUID } from 'node:crypto';
import { createYielder } from '@svc/concurrency';
import { type JsonlError, type SourceLocation, versionHash } from '@svc/jsonl-v23';
import { ImportMeter, type LimitNames } from '@svc/jsonl-v23/internal';
import { AssetWriter } from '../assets/asset-writer.ts';
import type { StoreContext } from '../context.ts';
import { type EncodedBatch, encodeCells, encodeLines } from '../copy/encode-section.ts';
import type { EncodedRows } from '../copy/encoded-rows.ts';
import type { RowEncoder } from '../copy/row-encoder.ts';
import { RowFailureList, toFailure } from '../copy/row-failures.ts';
import { SectionTotals } from '../copy/section-totals.ts';
import type { HeldRows } from '../copy/transaction/held-rows.ts';
import { ItemsTransaction } from '../copy/transaction/items-transaction.ts';
import type { TransactionStep } from '../copy/transaction/section-source.ts';
import { StoreError } from '../database/errors.ts';
import { DiskShortage } from '../disk-share.ts';
import {
  completeClaim,
  type IdempotencyClaim,
  type StoredResponse,
} from '../idempotency/idempotency-store.ts';
import { completeJob } from '../jobs/end-job.ts';
import type { TaskClaim } from '../queue/task-queue.ts';
import { checkRunTexts, type ImportedRun, insertImportedRun } from '../runs/insert-imported-run.ts';
import type { ImportedResult } from '../runs/insert-results.ts';
import type {
  DatasetDraft,
  DraftOptions,
  DraftProgress,
  FaultList,
  ReadSource,
  SectionOptions,
} from './dataset-draft.ts';
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
  readonly #options: DraftOptions;
  readonly #permit: Disposable;
  readonly #id: string = randomUUID();
  readonly #sections: SectionTotals[] = [];
  /** Of the sections so far, once they were asked for. */
  #hashes: DatasetDraft['hashes'] | undefined;
  readonly #faults = new RowFailureList();
  #skipped: RowFailureList | null = null;
  #items = 0;
  #rowsRead = 0;
  #itemsTotal: number | null = null;
  #assets = 0;
  #bytes = 0;
  #source: ReadSource | undefined;
  readonly #meter: ImportMeter;
  /** Bytes of items that were sent to the database, and those for which its disk has room. */
  #sentBytes = 0;
  #roomBytes = 0;
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

  section(name: string, { itemsTotal = null, file }: SectionOptions = {}): SectionWriter {
    this.#sections.at(-1)?.end();
    this.#hashes = undefined;
    const section = new SectionTotals(randomUUID(), name, this.#sections.length);
    this.#sections.push(section);
    if (itemsTotal !== null) this.#itemsTotal = (this.#itemsTotal ?? 0) + itemsTotal;
    const { signal } = this.#options;
    const encoder = this.#encoder;
    return {
      writeLines: async (batches, options) => {
        const locate = (): SourceLocation => ({ file: options.file });
        const counted = this.#countRows(batches, ({ itemCount }) => itemCount, locate);
        const lineOptions = { ...options, checksOnly: this.#isRefused };
        const encoded = encodeLines(encoder, section.id, counted, lineOptions, signal);
        await this.#write(section, encoded, { failures: this.#faults, file, locate });
      },
      writeCells: async (batches, plan) => {
        const locate = (row: number): SourceLocation => ({ row });
        const counted = this.#countRows(batches, ({ rowCount }) => rowCount, locate);
        const skips = plan.mapping.invalidRows === 'skip';
        if (skips) this.#skipped ??= new RowFailureList();
        const failures = (skips ? this.#skipped : null) ?? this.#faults;
        const encoded = encodeCells(encoder, section.id, counted, plan);
        await this.#write(section, encoded, { failures, file, locate });
      },
    };
  }

  get progress(): DraftProgress {
    const bytes = this.#source?.readBytes ?? this.#bytes;
    return { items: this.#items, rowsRead: this.#rowsRead, itemsTotal: this.#itemsTotal, bytes };
  }

  countBytesOf(source: ReadSource): void {
    this.#source = source;
  }

  get faults(): FaultList {
    return this.#faults;
  }

  get skipped(): FaultList | null {
    return this.#skipped;
  }

  addFault(error: JsonlError): void {
    this.#faults.add({ first: [toFailure(error)], total: 1 });
  }

  async restart(): Promise<void> {
    await this.#transaction[Symbol.asyncDispose]();
    const { signal } = this.#options;
    this.#transaction = new ItemsTransaction({ ...this.#context, signal });
    this.#assetWriter = new AssetWriter(this.#context.assets, signal);
    this.#sections.length = 0;
    this.#hashes = undefined;
    this.#faults.clear();
    this.#skipped = null;
    this.#items = 0;
    this.#rowsRead = 0;
    this.#itemsTotal = null;
    this.#assets = 0;
    this.#bytes = 0;
    this.#meter.reset();
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
    if (this.#isRefused) throw new Error('A draft with faults cannot be inserted.');
    const { sections, versionHash } = this.hashes;
    const counts = { itemCount: this.#items, assetCount: this.#assets };
    this.#dataset = { ...meta, ...counts, id: this.#id, versionHash };
    checkTexts(this.#dataset, sections);
    if (this.#smallRows === null && !this.#isDryRun) await this.#insertNow();
    return this.#dataset;
  }

  async insertRun(run: ImportedRun, results: AsyncIterable<readonly ImportedResult[]>): Promise<void> {
    checkRunTexts(run);
    if (this.#isDryRun) {
      for await (const _ of results);
      return;
    }
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
    if (this.#isDryRun) throw new Error('A dry run stores nothing.');
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
      this.#context.diskShare?.release(this);
      this.#permit[Symbol.dispose]();
    }
  }

  get #isDryRun(): boolean {
    return this.#options.dryRun === true;
  }

  get #isRefused(): boolean {
    return this.#faults.total > 0;
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
    this.#inserted = inserted;
    return inserted;
  }

  async #write(
    section: SectionTotals,
    batches: AsyncIterable<EncodedBatch>,
    rows: WrittenRows,
  ): Promise<void> {
    const counted = this.#count(section, batches, rows);
    if (!this.#isDryRun && !this.#isRefused) {
      await this.#transaction.write(this.#untilRefused(counted));
    }
    if (this.#isRefused) await this.#discard(counted);
    for await (const rows of counted) if (typeof rows !== 'function') this.#encoder.recycle(rows);
    // The last bytes of a source may come after its last row.
    this.#options.onProgress?.(this.progress);
  }

  /** The batches up to the first fault; those after it stay in the generator. A reader that stops early closes it. */
  async *#untilRefused(
    batches: AsyncGenerator<EncodedRows | TransactionStep>,
  ): AsyncGenerator<EncodedRows | TransactionStep> {
    let isOpen = true;
    try {
      for (;;) {
        const { done, value } = await batches.next();
        if (done === true || this.#isRefused) {
          isOpen = false;
          return;
        }
        yield value;
      }
    } finally {
      if (isOpen) await batches.return(undefined);
    }
  }

  /** Rolls back what is stored of a refused dataset: to check the rest may take long, and needs no connection. */
  async #discard(batches: AsyncGenerator): Promise<void> {
    try {
      await this.#transaction[Symbol.asyncDispose]();
    } catch (error) {
      await batches.return(undefined);
      throw error;
    }
    this.#assetWriter = new AssetWriter(this.#context.assets, this.#options.signal);
  }

  /** Reserves room on the disk of the database for further items. @throws StoreError `unavailable` */
  async #makeRoom({ itemBytes, contents }: EncodedRows): Promise<void> {
    const { diskShare } = this.#context;
    this.#sentBytes += itemBytes;
    for (const { bytes } of contents) this.#sentBytes += bytes.byteLength;
    if (diskShare === null || this.#sentBytes <= this.#roomBytes) return;
    const bytes = this.#sentBytes + ROOM_STEP_BYTES;
    try {
      await diskShare.reserve(this, bytes);
    } catch (cause) {
      if (!(cause instanceof DiskShortage)) throw cause;
      const message = 'The server is at capacity: no disk space is left for this import. Retry later.';
      throw new StoreError('unavailable', message, { cause, retryAfterMs: 30_000 });
    }
    this.#roomBytes = bytes;
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
    { failures: found, file, locate }: WrittenRows,
  ): AsyncGenerator<EncodedRows | TransactionStep> {
    const { signal, onProgress } = this.#options;
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
      if (failures !== null) found.add(failures, file);
      onProgress?.(this.progress);
      const stores = !this.#isDryRun && !this.#isRefused;
      if (stores) {
        await this.#makeRoom(encoded);
        this.#assetWriter.add(encoded.contents);
      }
      yield encoded;
      if (stores && this.#assetWriter.isFull) yield (client) => this.#assetWriter.stage(client);
      await yieldToEventLoop();
    }
  }
}

/** Where the rows of a section are, and where their failures go. */
interface WrittenRows {
  readonly failures: RowFailureList;
  readonly file: string | undefined;
  locate(row: number): SourceLocation;
}

/** Room on the disk is asked for in steps. */
const ROOM_STEP_BYTES = 16 * 1024 * 1024;

/** The limits of imports as operators set them. */
const LIMIT_NAMES: LimitNames = {
  maxTotalBytes: 'SVC_MAX_UNCOMPRESSED_BYTES',
  maxExpansionRatio: 'SVC_MAX_EXPANSION_RATIO',
  maxRows: 'SVC_MAX_ROWS',
};
