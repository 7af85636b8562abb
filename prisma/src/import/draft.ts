import { randomUUID } from 'node:crypto';
import { createYielder } from '@svc/concurrency';
import type { SourceLocation } from '@svc/jsonl-v23';
import type { ImportLimits } from '@svc/jsonl-v23/internal';
import { queryOf, transactionIdOf } from '@svc/postgres';
import { AssetWriter } from '../assets/asset-writer.ts';
import type { StoreContext } from '../context.ts';
import type { DatasetSummary } from '../database/dataset-row.ts';
import { interruptible } from '../database/interruptible.ts';
import { completeClaim } from '../idempotency/idempotency-store.ts';
import { completeJob } from '../jobs/end-job.ts';
import { takeItemIds } from '../runs/take-item-ids.ts';
import { checkRunTexts, insertImportedRun } from '../runs/write/insert-imported-run.ts';
import { changeDataset } from '../versions/change-dataset.ts';
import { readSummary } from '../versions/read-summary.ts';
import type { DiskShare } from './disk-share.ts';
import type {
  ChangedDraft,
  DraftChange,
  DraftCommit,
  DraftContent,
  JoinEnd,
  JoinedRun,
} from './draft-content.ts';
import { type DraftHashes, type DraftProgress, DraftTotals } from './draft-totals.ts';
import { type EncodedBatch, encodeCells, encodeLines } from './encode/encode-section.ts';
import type { EncodedRows } from './encode/encoded-rows.ts';
import type { RowEncoder } from './encode/row-encoder.ts';
import { findHome } from './find-home.ts';
import { findRepeated, type RepeatedDataset } from './find-repeated.ts';
import { type FaultList, ImportReport } from './import-report.ts';
import { ImportRoom } from './import-room.ts';
import { checkTexts, type DatasetMeta, type NewDataset, summaryOf } from './insert-dataset.ts';
import { PartRows } from './part-rows.ts';
import type { SectionTotals } from './section-totals.ts';
import type { SectionOptions, SectionWriter } from './section-writer.ts';

/** What imports share besides the rest of the store. */
export interface ImportContext extends Pick<StoreContext, 'pool' | 'assets' | 'imports'> {
  /** Encodes rows. */
  readonly encoder: RowEncoder;
  /** The share of the disk that running imports may take; null if the database is elsewhere. */
  readonly diskShare: DiskShare<object> | null;
  /** What one import may make. */
  readonly importLimits: ImportLimits;
}

export interface DraftOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after every batch. */
  readonly onProgress?: ((progress: DraftProgress) => void) | undefined;
  /** Receives the invalid lines and rows. After the first one, the draft rolls back and continues checking. */
  readonly report?: ImportReport | undefined;
  /** Does everything that an import does, and stores nothing. */
  readonly dryRun?: boolean | undefined;
}

/**
 * A dataset that is being written: the rows of each section are stored as they come, as parts. The dataset is invisible
 * until `commit`, gone when the draft is disposed without. All methods throw StoreError `unavailable`, and those that write
 * rows JsonlError `package_limit` (see `StoreOptions.importLimits`).
 *
 * @example
 * await using draft = await store.datasets.begin({ signal });
 * await draft.section('default').writeLines(batches, { file, maxDepth, maxLineBytes });
 * const stored = await draft.commit({ dataset: { name, description, notes, source, schema } });
 */
export class DatasetDraft implements AsyncDisposable {
  readonly #context: ImportContext;
  readonly #options: DraftOptions;
  readonly #report: ImportReport;
  readonly #permit: Disposable;
  readonly #id: string = randomUUID();
  readonly #room: ImportRoom;
  #totals: DraftTotals;
  #rows: PartRows;
  #assets: AssetWriter;

  private constructor(context: ImportContext, options: DraftOptions, permit: Disposable) {
    this.#context = context;
    this.#options = options;
    this.#report = options.report ?? new ImportReport();
    this.#permit = permit;
    this.#room = new ImportRoom(context.diskShare);
    this.#totals = new DraftTotals(context.importLimits);
    this.#rows = new PartRows(context.pool, options.signal);
    this.#assets = new AssetWriter(context.assets, options.signal);
  }

  /**
   * Waits for a permit to import, which the draft holds until it is disposed.
   *
   * @throws StoreError `unavailable` when no import ends in time; the signal's reason
   */
  static async begin(context: ImportContext, options: DraftOptions): Promise<DatasetDraft> {
    return new DatasetDraft(context, options, await context.imports.acquire(options.signal));
  }

  /** Adds a section; write its items before you add the next one. */
  section(name: string, { itemsTotal = null, file, read }: SectionOptions = {}): SectionWriter {
    const totals = this.#totals;
    const section = totals.addSection(name, itemsTotal, read);
    const { encoder } = this.#context;
    return {
      writeLines: async (batches, options) => {
        const locate = (): SourceLocation => ({ file: options.file });
        const counted = totals.countRows(batches, ({ itemCount }) => itemCount, locate);
        const lineOptions = { ...options, checksOnly: this.#isRefused };
        const encoded = encodeLines(encoder, section.parts, counted, lineOptions, this.#options.signal);
        await this.#write(section, encoded, { failures: this.#report.faults, file, locate });
      },
      writeCells: async (batches, plan) => {
        const locate = (row: number): SourceLocation => ({ row });
        const counted = totals.countRows(batches, ({ rowCount }) => rowCount, locate);
        const failures = this.#report.listFor(plan.mapping.invalidRows);
        await this.#write(section, encodeCells(encoder, section.parts, counted, plan), {
          failures,
          file,
          locate,
        });
      },
    };
  }

  get progress(): DraftProgress {
    return this.#totals.progress;
  }

  /** Counts and hashes of all sections. Ends the last one. */
  get hashes(): DraftHashes {
    return this.#totals.hashes;
  }

  /** Discards all sections and rows, so that the import can begin again. */
  async restart(): Promise<void> {
    await this.#discard();
    this.#totals = new DraftTotals(this.#context.importLimits);
  }

  /**
   * Stores the dataset with what belongs to it. When the connection breaks during the commit, finds out whether it
   * committed. A dry run reads and checks the same.
   *
   * @throws StoreError `invalid_request` for a text that cannot be stored; `superseded`, `job_finished` for a job or a
   *   request that another process has handled; what `results` throws
   */
  async commit({ dataset: meta, run, job, response }: DraftCommit): Promise<DatasetSummary> {
    if (this.#isRefused) throw new Error('A draft with faults cannot be committed.');
    const { sections, versionHash } = this.hashes;
    const dataset: NewDataset = { ...meta, ...this.#totals.counts, id: this.#id, versionHash };
    checkTexts(dataset, sections);
    if (run) checkRunTexts(run.facts);
    if (this.#options.dryRun === true) {
      if (run) for await (const _ of run.results);
      return summaryOf(dataset, sections, new Date());
    }
    const rows = this.#rows;
    const { createdAt, transactionId } = await rows.insertDataset(dataset, sections);
    const summary = summaryOf(dataset, sections, createdAt);
    if (run) {
      const home = { ...dataset, version: 1 };
      await rows.run((client) => insertImportedRun(client, home, run.facts, run.results));
    }
    if (job) await rows.run((client) => completeJob(client, job, dataset.id));
    if (response) await rows.run((client) => completeClaim(client, response.claim, response.of(summary)));
    // As late as possible: a concurrent import of the same files waits from here to the commit.
    if (!this.#assets.isEmpty) await rows.run((client) => this.#assets.store(client, dataset.id));
    await rows.commit(transactionId);
    return summary;
  }

  /**
   * Makes the items the next version of a dataset, together with what belongs to the change.
   *
   * @param dryRun rolls everything back
   * @returns the dataset as it is then, and whether it has a new version
   * @throws as {@link changeDataset} and {@link commit}
   */
  async change({
    change,
    namesSections = true,
    job,
    response,
    dryRun = false,
  }: DraftChange): Promise<ChangedDraft> {
    if (this.#isRefused) throw new Error('A draft with faults cannot be committed.');
    const staged = this.hashes.sections.map(({ name, parts }) => ({
      section: namesSections ? name : null,
      ranges: parts,
    }));
    const { changed, dataset } = await this.#rows.run(async (client) => {
      const done = await changeDataset(client, { ...change, staged });
      return { changed: done, dataset: await readSummary(queryOf(client), done.datasetId, done.version) };
    });
    if (dryRun) return { changed, dataset };
    // What is stored is what was there: only the job and the response remain.
    if (!changed.isNew) await this.#discard();
    const rows = this.#rows;
    if (job) await rows.run((client) => completeJob(client, job, dataset.id));
    if (response) {
      await rows.run((client) => completeClaim(client, response.claim, response.of({ changed, dataset })));
    }
    if (!this.#assets.isEmpty) {
      await rows.run((client) => this.#assets.store(client, dataset.id, changed.version));
    }
    await this.#commitRows();
    return { changed, dataset };
  }

  /**
   * Finds the dataset that this one would repeat: that of the same handle, or without one the last of the same name and hash.
   * Other drafts of this name wait with their search until this one ends.
   */
  async findRepeated({
    name,
    handle,
  }: Pick<DatasetMeta, 'name' | 'handle'>): Promise<RepeatedDataset | null> {
    const { versionHash } = this.hashes;
    return await this.#rows.run((client) => findRepeated(client, { name, handle, versionHash }));
  }

  /**
   * Adds the run to a dataset that has all of its items, and stores nothing else. Null, and nothing is done, where there is
   * none.
   *
   * @throws as {@link commit}
   */
  async joinRun({ run }: Pick<DraftContent, 'run'>, end: JoinEnd): Promise<JoinedRun | null> {
    if (this.#isRefused) throw new Error('A draft with faults cannot be committed.');
    if (run?.joins == null) return null;
    const idsAreHashes = run.joins !== 'items';
    const home = await this.#rows.run((client) => findHome(client, this.hashes, idsAreHashes));
    if (home === null) return null;
    checkRunTexts(run.facts);
    await this.#discard();
    const rows = this.#rows;
    const joined = await rows.run(async (client) => {
      const dataset = await readSummary(queryOf(client), home.id, home.version);
      const runId = await insertImportedRun(client, home, run.facts, home.place(run.results));
      if (idsAreHashes) await takeItemIds(client, runId, { datasetId: home.id, version: home.version });
      return { dataset, runId };
    });
    const { job, response } = end;
    if (job) await rows.run((client) => completeJob(client, job, joined.dataset.id));
    if (response) {
      await rows.run((client) => completeClaim(client, response.claim, response.of(joined)));
    }
    await this.#commitRows();
    return joined;
  }

  /** Ends the job and answers the request with a dataset that is there, and stores nothing else. */
  async reuse(
    dataset: DatasetSummary,
    { job, response }: Pick<DraftCommit, 'job' | 'response'>,
  ): Promise<void> {
    await this.#discard();
    const rows = this.#rows;
    if (job) await rows.run((client) => completeJob(client, job, dataset.id));
    if (response) await rows.run((client) => completeClaim(client, response.claim, response.of(dataset)));
    if (job || response) await this.#commitRows();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#rows[Symbol.asyncDispose]();
    } finally {
      this.#room[Symbol.dispose]();
      this.#permit[Symbol.dispose]();
    }
  }

  async #commitRows(): Promise<void> {
    const rows = this.#rows;
    await rows.commit(await rows.run(transactionIdOf));
  }

  get #isRefused(): boolean {
    return this.#report.faults.total > 0;
  }

  async #write(
    section: SectionTotals,
    batches: AsyncIterable<EncodedBatch>,
    { failures: found, file, locate }: WrittenRows,
  ): Promise<void> {
    const { signal, onProgress } = this.#options;
    const yieldToEventLoop = createYielder();
    let rows = 0;
    for await (const { encoded, bytes } of interruptible(batches, (next) => this.#rows.wait(next))) {
      signal?.throwIfAborted();
      const { itemCount, failures } = encoded;
      rows += itemCount + (failures?.total ?? 0);
      this.#totals.add(section, encoded, bytes, locate(rows - 1));
      if (failures !== null) found.add(failures, file);
      onProgress?.(this.progress);
      if (this.#isRefused) await this.#discard();
      else if (this.#options.dryRun !== true) await this.#store(encoded);
      this.#context.encoder.recycle(encoded);
      await yieldToEventLoop();
    }
    // The last bytes of a source may come after its last row.
    onProgress?.(this.progress);
  }

  /** Stores a batch, and the files that its items embed once there are many. */
  async #store({ rows, itemBytes, contents }: EncodedRows): Promise<void> {
    await this.#room.add(contents.reduce((sum, { bytes }) => sum + bytes.byteLength, itemBytes));
    await this.#rows.write(rows);
    this.#assets.add(contents);
    if (this.#assets.isFull) await this.#rows.run((client) => this.#assets.stage(client));
  }

  /** Rolls back what is stored: to check the rest may take long, and needs no connection. */
  async #discard(): Promise<void> {
    const { signal } = this.#options;
    await this.#rows[Symbol.asyncDispose]();
    this.#rows = new PartRows(this.#context.pool, signal);
    this.#assets = new AssetWriter(this.#context.assets, signal);
  }
}

/** Where the rows of a section are, and where their failures go. */
interface WrittenRows {
  readonly failures: FaultList;
  readonly file: string | undefined;
  locate(row: number): SourceLocation;
}
