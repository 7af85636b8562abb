import { randomUUID } from 'node:crypto';
import { type SourceLocation, versionHash } from '@svc/jsonl-v23';
import { createSha256 } from '@svc/jsonl-v23/bytes';
import { type ImportLimits, ImportMeter, type LimitNames } from '@svc/jsonl-v23/imports';
import { ProfileBlocks, type StoredProfile } from '../hub-files/profile.ts';
import type { ItemRange } from '../versions/ranges.ts';
import { type Sha256State, startSectionHash } from '../versions/sha256-state.ts';
import type { ReadSource, SectionOptions } from './draft-content.ts';
import type { EncodedRows } from './encode/encode-rows.ts';
import { SectionParts } from './encode/row-encoder.ts';

export interface DraftProgress {
  readonly items: number;
  /** Rows that were read, also rows that have not become items. */
  readonly rowsRead: number;
  /** Items of the sections that said how many they have; null if unknown. */
  readonly itemsTotal: number | null;
  /** Bytes of the {@link ReadSource} of the sections; without one, of lines as they were read, or of rows as stored. */
  readonly bytes: number;
}

/** Counts and hashes of all sections (item-v23, section 4). */
export interface DraftHashes {
  readonly versionHash: string;
  readonly sections: readonly SectionRecord[];
}

export class DraftTotals {
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

interface SectionHead {
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

/** Counts and hashes the items of one section as they pass (hashes as in item-v23, section 4). */
export class SectionTotals {
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
