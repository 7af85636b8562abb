import { randomUUID } from 'node:crypto';
import { type SourceLocation, versionHash } from '@svc/jsonl-v23';
import { createSha256 } from '@svc/jsonl-v23/bytes';
import { type ImportLimits, ImportMeter, type LimitNames } from '@svc/jsonl-v23/imports';
import type { LineBatch } from '@svc/jsonl-v23/lines';
import {
  createDiskShare,
  createYielder,
  type DiskShare,
  DiskShortage,
  freeDiskBytes,
  interruptible,
} from '../../concurrency/index.ts';
import { AssetWriter } from '../assets/asset-writer.ts';
import type { StoreContext } from '../context.ts';
import { StoreError } from '../database/errors.ts';
import { ProfileBlocks, type StoredProfile } from '../hub-files/profile.ts';
import { nextMadeId } from '../versions/change-dataset.ts';
import { type Sha256State, startSectionHash } from '../versions/sha256-state.ts';
import { commitDataset, commitVersion, PartRows } from './commit-draft.ts';
import type {
  DraftCommit,
  DraftHashes,
  ImportTarget,
  ReadSource,
  SectionHead,
  SectionOptions,
  SectionRecord,
  StoredImport,
  WriteLinesOptions,
} from './draft-content.ts';
import { type EncodedRows, FaultList, type MappingPlan } from './encode/encode-rows.ts';
import type { ItemFileSource } from './encode/encode-with-files.ts';
import {
  type EncodedBatch,
  encodeLines,
  encodeRows,
  type RowEncoder,
  SectionParts,
} from './encode/row-encoder.ts';
import type { TableRows } from './encode/rows-to-lines.ts';
import { createLinkedFiles } from './linked-files.ts';

export interface ImportContext extends Pick<StoreContext, 'pool' | 'assets' | 'imports'> {
  readonly encoder: RowEncoder;
  /** The share of the disk that running imports may take; null if the database is elsewhere. */
  readonly diskShare: DiskShare<object> | null;
  readonly importLimits: ImportLimits;
}

export function importShare({
  folder,
  sharePercent,
}: {
  readonly folder: string;
  readonly sharePercent: number;
}): DiskShare<object> {
  // What is sent may not be on the disk yet, and takes more there, with its log: nothing of it counts as written.
  const writtenBytes = (): number => 0;
  return createDiskShare(sharePercent, () => freeDiskBytes(folder), writtenBytes);
}

export interface DraftProgress {
  readonly items: number;
  /** Rows that were read, also rows that have not become items. */
  readonly rowsRead: number;
  /** Items of the sections that said how many they have; null if unknown. */
  readonly itemsTotal: number | null;
  /** Bytes of the {@link ReadSource} of the sections; without one, of lines as they were read, or of rows as stored. */
  readonly bytes: number;
}

export interface DraftOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: DraftProgress) => void) | undefined;
  /** Receives the invalid lines and rows. After the first one, the draft rolls back and continues checking. */
  readonly report?: ImportReport | undefined;
  readonly target?: ImportTarget | undefined;
  /** Does everything that an import does, and stores nothing. */
  readonly dryRun?: boolean | undefined;
}

/**
 * A dataset that is being written: the rows of each section are stored as they come, as parts. The dataset is invisible
 * until `commit`, gone when the draft is disposed without. All methods throw StoreError `unavailable`, and those that write
 * rows JsonlError `package_limit` (see `StoreOptions.importLimits`).
 */
export class DatasetDraft implements AsyncDisposable {
  readonly #context: ImportContext;
  readonly #options: DraftOptions;
  readonly #report: ImportReport;
  readonly #permit: Disposable;
  readonly #id: string = randomUUID();
  /** What it takes of the disk of the database. */
  #storedBytes = 0;
  #totals: DraftTotals;
  readonly #rows: PartRows;
  #assets: AssetWriter | null = null;

  private constructor(context: ImportContext, options: DraftOptions, permit: Disposable) {
    this.#context = context;
    this.#options = options;
    this.#report = options.report ?? new ImportReport();
    this.#permit = permit;
    this.#totals = new DraftTotals(context.importLimits);
    this.#rows = new PartRows(context.pool, options.signal, options.dryRun);
  }

  /**
   * Waits for a permit to import, which the draft holds until it is disposed, and starts a dataset.
   *
   * @throws StoreError `unavailable` when no import ends in time; the signal's reason
   */
  static async begin(context: ImportContext, options: DraftOptions = {}): Promise<DatasetDraft> {
    return new DatasetDraft(context, options, await context.imports.acquire(options.signal));
  }

  /** Adds a section; write its items, in order, before you add the next one. */
  section(name: string, options: SectionOptions = {}) {
    const totals = this.#totals;
    const section = totals.addSection(name, options);
    const { file } = options;
    const { encoder } = this.#context;
    return {
      /**
       * Reads batches as fast as the database takes rows, and takes them over. Files are read up to the first fault; missing
       * ones are faults, and all of them are found.
       *
       * @throws what `batches` and `files` throw, unchanged; StoreError `unavailable`, `invalid_request` for an item that
       *   is too large for the database
       */
      writeLines: async (batches: AsyncIterable<LineBatch>, options: WriteLinesOptions): Promise<void> => {
        const locate = (): SourceLocation => ({ file: options.file });
        const counted = totals.countRows(batches, ({ itemCount }) => itemCount, locate);
        const files = options.origins === undefined ? options.files : this.#linkedFiles();
        const lineOptions = { ...options, files, checksOnly: this.#isRefused };
        const encoded = encodeLines(encoder, section.parts, counted, lineOptions, this.#options.signal);
        await this.#write(section, encoded, { failures: this.#report.faults, file, locate });
      },
      /** Leaves faulty rows out where the mapping skips them. @throws as `writeLines` */
      writeRows: async (batches: AsyncIterable<TableRows>, plan: MappingPlan): Promise<void> => {
        this.#refuseMadeIds(plan);
        const locate = (row: number): SourceLocation => ({ row });
        const numbered = await this.#numbered(batches, plan, section);
        const counted = totals.countRows(numbered, ({ rows }) => rows.length, locate);
        const failures = this.#report.listFor(plan.mapping.invalidRows);
        await this.#write(section, encodeRows(encoder, section.parts, counted, plan), {
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

  async restart(): Promise<void> {
    await this.#discard();
    this.#totals = new DraftTotals(this.#context.importLimits);
  }

  /**
   * Stores what was written as the draft's target wants it, with what belongs to it. When the connection breaks during the
   * commit, finds out whether it committed. A dry run reads and checks the same.
   *
   * @throws StoreError `invalid_request` for a text that cannot be stored, or a section of a source that names its own;
   *   `handle_taken`, `dataset_exists`; `superseded`, `job_finished` for a job or a request that another process has
   *   handled; what `changeDataset` and `results` throw
   */
  async commit(content: DraftCommit): Promise<StoredImport> {
    if (this.#isRefused) throw new Error('A draft with faults cannot be committed.');
    const { target = NEW_DATASET, dryRun = false } = this.#options;
    const { hashes, counts } = this.#totals;
    const profiles = this.#totals.takeProfiles();
    const written = {
      ...{ id: this.#id, hashes, counts, profiles, rows: this.#rows, assets: this.#assets, dryRun },
    };
    return target.kind === 'dataset'
      ? await commitDataset(written, target, content)
      : await commitVersion(written, target, content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#rows.discard();
    } finally {
      this.#context.diskShare?.release(this);
      this.#permit[Symbol.dispose]();
    }
  }

  /** The items of a change are compared with the stored ones, in a transaction that a dry run rolls back. */
  get #storesRows(): boolean {
    const { dryRun = false, target = NEW_DATASET } = this.#options;
    return !dryRun || target.kind === 'version';
  }

  get #isRefused(): boolean {
    return this.#report.faults.total > 0;
  }

  /** Rows without ids get them by their numbers, as the rows of any other table do: to upsert them would mix up items. */
  #refuseMadeIds({ mapping }: MappingPlan): void {
    const { target } = this.#options;
    if (target?.kind !== 'version' || target.change.mode !== 'upsert') return;
    if (mapping.idColumn !== undefined) return;
    throw new StoreError('ambiguous_id', 'Cannot upsert rows: the mapping has no id_column.');
  }

  /**
   * Rows with the numbers that their ids are made of: those of rows that are appended follow the items of the section. Other
   * changes of the dataset wait from here on, so that no two items get one id.
   */
  async #numbered(
    batches: AsyncIterable<TableRows>,
    { mapping }: MappingPlan,
    { head: { name, isNamed } }: SectionTotals,
  ): Promise<AsyncIterable<TableRows>> {
    const { target } = this.#options;
    const isAppended = target?.kind === 'version' && target.change.mode === 'append';
    if (!isAppended || mapping.idColumn !== undefined || this.#isRefused) return batches;
    const { split, idOffset } = await this.#rows.run((client) =>
      nextMadeId(client, target.change, isNamed ? name : null),
    );
    return (async function* () {
      for await (const batch of batches) yield { ...batch, split, idOffset };
    })();
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
      this.#report.unaskedCount += encoded.unaskedCount;
      onProgress?.(this.progress);
      if (this.#isRefused) await this.#discard();
      else if (this.#storesRows) await this.#store(encoded);
      this.#context.encoder.recycle(encoded);
      await yieldToEventLoop();
    }
    // The last bytes of a source may come after its last row.
    onProgress?.(this.progress);
  }

  #linkedFiles(): ItemFileSource {
    const { pool, assets } = this.#context;
    return createLinkedFiles({ pool, assets, signal: this.#options.signal });
  }

  /** Stores a batch, and the files that its items embed once there are many. */
  async #store({ rows, itemBytes, contents }: EncodedRows): Promise<void> {
    await this.#reserve(contents.reduce((sum, { bytes }) => sum + bytes.byteLength, itemBytes));
    await this.#rows.write(rows);
    if (contents.length === 0) return;
    const assets = this.#assets ?? new AssetWriter(this.#context.assets, this.#options.signal);
    this.#assets = assets;
    assets.add(contents);
    if (assets.isFull) await this.#rows.run((client) => assets.stage(client));
  }

  /** Reserves room for further bytes on the disk of the database. @throws StoreError `unavailable` */
  async #reserve(bytes: number): Promise<void> {
    this.#storedBytes += bytes;
    try {
      await this.#context.diskShare?.reserve(this, Math.ceil(this.#storedBytes / ROOM_BYTES) * ROOM_BYTES);
    } catch (cause) {
      if (!(cause instanceof DiskShortage)) throw cause;
      const message = 'The server is at capacity: no disk space is left for this import. Retry later.';
      throw new StoreError('unavailable', message, { cause, retryAfterMs: 30_000, reason: 'full' });
    }
  }

  /** Rolls back what is stored: to check the rest may take long, and needs no connection. */
  async #discard(): Promise<void> {
    await this.#rows.discard();
    this.#assets = null;
  }
}

export type SectionWriter = ReturnType<DatasetDraft['section']>;

/** Room on the disk is reserved in steps. */
const ROOM_BYTES = 16 * 1024 * 1024;

const NEW_DATASET: ImportTarget = {
  kind: 'dataset',
  handle: null,
  ifExists: null,
  message: null,
  author: null,
};

interface WrittenRows {
  readonly failures: FaultList;
  readonly file: string | undefined;
  locate(row: number): SourceLocation;
}

class DraftTotals {
  readonly #meter: ImportMeter;
  readonly #sections: SectionTotals[] = [];
  #read: ReadSource | undefined;
  #items = 0;
  #rowsRead = 0;
  #itemsTotal: number | null = null;
  #assets = 0;
  #bytes = 0;
  /** Made for the first batch that a thread encodes. */
  #profiles: ProfileBlocks | undefined;

  constructor(limits: ImportLimits) {
    this.#meter = new ImportMeter(limits, LIMIT_NAMES);
  }

  get progress(): DraftProgress {
    const bytes = this.#read?.readBytes ?? this.#bytes;
    return { items: this.#items, rowsRead: this.#rowsRead, itemsTotal: this.#itemsTotal, bytes };
  }

  get counts(): { readonly itemCount: number; readonly assetCount: number } {
    return { itemCount: this.#items, assetCount: this.#assets };
  }

  /** Ends the last section. */
  get hashes(): DraftHashes {
    const sections = this.#sections.map((section) => section.end());
    return { sections, versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)) };
  }

  /** What the items are, as far as it is known of whole blocks; to be taken once, at the end. */
  takeProfiles(): readonly StoredProfile[] {
    if (this.#profiles === undefined) return [];
    const parts = this.#sections.flatMap((section) => section.parts.ranges);
    return this.#profiles.take(new Map(parts.map(({ partId, count }) => [partId, count])));
  }

  addSection(name: string, { itemsTotal = null, isNamed = true, read }: SectionOptions): SectionTotals {
    this.#sections.at(-1)?.end();
    const section = new SectionTotals({ id: randomUUID(), name, isNamed, orderIndex: this.#sections.length });
    this.#sections.push(section);
    if (itemsTotal !== null) this.#itemsTotal = (this.#itemsTotal ?? 0) + itemsTotal;
    this.#read = read;
    if (read?.fileBytes !== undefined) this.#meter.setFileBytes(read.fileBytes);
    return section;
  }

  /** Counts the rows of batches as they are read. @param locate the row of a section @throws JsonlError `package_limit` */
  async *countRows<T>(
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

  /** Counts and hashes a batch. @throws JsonlError `package_limit` */
  add(section: SectionTotals, encoded: EncodedRows, bytes: number, location: SourceLocation): void {
    const { itemCount, itemBytes, embeddedBytes, failures } = encoded;
    this.#meter.addItems({ bytes: itemBytes, embeddedBytes, skippedRows: failures?.total ?? 0 }, location);
    section.add(encoded);
    for (const profile of encoded.profiles) {
      this.#profiles ??= new ProfileBlocks();
      this.#profiles.add(profile);
    }
    this.#items += itemCount;
    this.#assets += encoded.assetCount;
    this.#bytes += bytes;
  }
}

const LIMIT_NAMES: LimitNames = {
  maxTotalBytes: 'SVC_MAX_UNCOMPRESSED_BYTES',
  maxExpansionRatio: 'SVC_MAX_EXPANSION_RATIO',
  maxRows: 'SVC_MAX_ROWS',
};

/** Counts and hashes the items of one section as they pass (hashes as in item-v23, section 4). */
class SectionTotals {
  readonly head: SectionHead;
  readonly parts: SectionParts = new SectionParts();
  #itemCount = 0;
  readonly #hash: Sha256State;
  /** Null once an item embeds a file. */
  #file: { readonly hash: ReturnType<typeof createSha256>; bytes: number } | null = {
    hash: createSha256(),
    bytes: 0,
  };
  #record: SectionRecord | undefined;

  constructor(head: SectionHead) {
    this.head = head;
    this.#hash = startSectionHash(head.name);
  }

  add(encoded: EncodedRows): void {
    this.#hash.update(encoded.itemHashes);
    this.#itemCount += encoded.itemCount;
    if (encoded.lines === null) this.#file = null;
    else if (this.#file !== null) {
      this.#file.hash.update(encoded.lines);
      this.#file.bytes += encoded.lines.byteLength;
    }
  }

  end(): SectionRecord {
    const file = this.#file;
    this.#record ??= {
      ...this.head,
      itemCount: this.#itemCount,
      parts: this.parts.ranges,
      sectionHash: this.#hash.digest(),
      hashState: this.#hash.save(),
      exportFile: file === null ? null : { bytes: file.bytes, sha256: file.hash.digest() },
    };
    return this.#record;
  }
}

/** What an import finds in its lines and rows. The draft adds to it, and stores nothing any more once there is a fault. */
export class ImportReport {
  faults: FaultList = new FaultList();
  /** Rows that the mapping skips; null if no mapping skips rows. */
  skipped: FaultList | null = null;
  unaskedCount = 0;
  readonly unusedColumns: Set<string> = new Set();

  listFor(invalidRows: 'skip' | 'fail' | undefined): FaultList {
    if (invalidRows !== 'skip') return this.faults;
    this.skipped ??= new FaultList();
    return this.skipped;
  }

  /** Forgets all, as when an import begins again. */
  clear(): void {
    this.faults = new FaultList();
    this.skipped = null;
    this.unaskedCount = 0;
    this.unusedColumns.clear();
  }
}
