import { randomUUID } from 'node:crypto';
import { type SourceLocation, versionHash } from '@svc/jsonl-v23';
import { type ImportLimits, ImportMeter, type LimitNames } from '@svc/jsonl-v23/internal';
import type { EncodedRows } from './encode/encoded-rows.ts';
import { type SectionRecord, SectionTotals } from './section-totals.ts';

/** How far an import is. */
export interface DraftProgress {
  readonly items: number;
  /** Rows that were read, with those that have not become items. */
  readonly rowsRead: number;
  /** Items of the sections that said how many they have; null where unknown. */
  readonly itemsTotal: number | null;
  /** Bytes of the {@link ReadSource} of the sections; without one, of lines as they were read, or of rows as stored. */
  readonly bytes: number;
}

/** What an import reads. */
export interface ReadSource {
  /** So far. */
  readonly readBytes: number;
  /** Size of the stored files that the rows come from; absent for archives, which count their own expansion. */
  readonly fileBytes?: number;
}

/** Counts and hashes of all sections (item-v23, section 4). */
export interface DraftHashes {
  readonly versionHash: string;
  readonly sections: readonly SectionRecord[];
}

/** Counts and hashes what an import reads and makes, and refuses what exceeds its limits. */
export class DraftTotals {
  readonly #meter: ImportMeter;
  readonly #sections: SectionTotals[] = [];
  /** Hashes of the sections so far, once they were requested. */
  #hashes: DraftHashes | undefined;
  #read: ReadSource | undefined;
  #items = 0;
  #rowsRead = 0;
  #itemsTotal: number | null = null;
  #assets = 0;
  #bytes = 0;

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
    if (this.#hashes === undefined) {
      const sections = this.#sections.map((section) => section.end());
      this.#hashes = { sections, versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)) };
    }
    return this.#hashes;
  }

  /** Begins a section, and ends the one before. */
  addSection(name: string, itemsTotal: number | null, read: ReadSource | undefined): SectionTotals {
    this.#sections.at(-1)?.end();
    this.#hashes = undefined;
    const section = new SectionTotals(randomUUID(), name, this.#sections.length);
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

  /**
   * Counts and hashes a batch.
   *
   * @param bytes that it accounts for
   * @param location of its last row
   * @throws JsonlError `package_limit`
   */
  add(section: SectionTotals, encoded: EncodedRows, bytes: number, location: SourceLocation): void {
    const { itemCount, itemBytes, embeddedBytes, failures } = encoded;
    this.#meter.addItems({ bytes: itemBytes, embeddedBytes, skippedRows: failures?.total ?? 0 }, location);
    section.add(encoded);
    this.#items += itemCount;
    this.#assets += encoded.assetCount;
    this.#bytes += bytes;
  }
}

/** The limits of imports as operators set them. */
const LIMIT_NAMES: LimitNames = {
  maxTotalBytes: 'SVC_MAX_UNCOMPRESSED_BYTES',
  maxExpansionRatio: 'SVC_MAX_EXPANSION_RATIO',
  maxRows: 'SVC_MAX_ROWS',
};
