import type { FileReference, Item, MappableFeature, Mapping } from '@svc/jsonl-v23';
import type { CellBatch, LineBatch } from '@svc/jsonl-v23/internal';

/** Where the items of one section go. The flow makes the id, so that rows can be made before anything is stored. */
export interface SectionTarget {
  /** uuid of the section */
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
}

/** A batch of items in the store's own row encoding, with what the flow needs to fold into hashes and counts. */
export interface EncodedRows {
  /** opaque to flows: handed to {@link DatasetStore.saveDataset} as it is */
  readonly rows: Uint8Array;
  readonly itemCount: number;
  /** `itemCount` times 32 bytes, in item order */
  readonly itemHashes: Uint8Array;
  readonly assetCount: number;
  /**
   * The canonical lines of these items, each ended by LF, as an export writes them; null when an item
   * embeds a file, which an export moves out of the line.
   */
  readonly lines: Uint8Array | null;
}

/** An item of the batch names files of the archive: the flow reads them and calls `encodeFilled`. */
export interface NeedsFiles {
  readonly needsFiles: true;
  /** the bytes of the batch, which the encoder had taken over */
  readonly bytes: Uint8Array;
  /** all items of the batch, in order */
  readonly items: readonly ItemFiles[];
}

/** An item of a batch, and the files that it names. */
export interface ItemFiles {
  /** 1-based line of the section */
  readonly line: number;
  /** where the line is in the bytes of the batch, its line feed apart */
  readonly start: number;
  readonly end: number;
  /** of the item's canonical text, without its files */
  readonly itemBytes: number;
  readonly references: readonly FileReference[];
}

/** Lines and the files that their items name. */
export interface FilledLines {
  readonly batch: LineBatch;
  /** for each item the contents of its references, in their order; the same array where it is the same file */
  readonly contents: readonly (readonly Uint8Array[])[];
  /** of the canonical texts of all items, files included */
  readonly itemBytes: number;
}

/** What holds for all lines of a section. */
export interface LineOptions {
  readonly file: string;
  readonly maxDepth: number;
  /** longest canonical text of an item, files included */
  readonly maxLineBytes: number;
}

/** How rows become items: see `compileMapping`. The same object for all batches of an import. */
export interface RowPlan {
  readonly mapping: Mapping;
  readonly features: readonly MappableFeature[];
  /** longest canonical text of an item */
  readonly maxItemBytes: number;
}

/** The per-batch work (parse, validate, canonical text, hash, row encoding), inline or on worker threads. */
export interface RowEncoder extends AsyncDisposable {
  /** How many batches may be under way at once: 1 when the work is done inline. */
  readonly parallelism: number;
  /** Encodes a batch and takes its bytes over: they may be another thread's by the time this returns. */
  encodeLines(
    batch: LineBatch,
    target: SectionTarget,
    firstOrderIndex: number,
    options: LineOptions,
  ): Promise<EncodedRows | NeedsFiles>;
  /** Encodes lines with their files; the contents stay the caller's. */
  encodeFilled(
    lines: FilledLines,
    target: SectionTarget,
    firstOrderIndex: number,
    options: LineOptions,
  ): Promise<EncodedRows>;
  /** Encodes rows of a dataset as the mapping makes items of them, and takes the batch's buffers over. */
  encodeCells(
    batch: CellBatch,
    plan: RowPlan,
    target: SectionTarget,
    firstOrderIndex: number,
  ): Promise<EncodedRows>;
  encodeItems(items: readonly Item[], target: SectionTarget, firstOrderIndex: number): EncodedRows;
  /** Takes back what a batch was encoded into, once it is stored and folded, so that the next one may use it. */
  recycle(encoded: EncodedRows): void;
}

export type DatasetSource = 'hub' | 'pkg_zip';

/** What an import stores beside the items, known when its last row has passed. */
export interface ImportOutcome {
  readonly dataset: {
    /** uuid */
    readonly id: string;
    readonly name: string;
    readonly description: string | null;
    readonly notes: string | null;
    readonly source: DatasetSource;
    /** provenance object as canonical JSON text, kept as it is */
    readonly schema: string;
    /** 64 hex digits */
    readonly versionHash: string;
    readonly itemCount: number;
    readonly assetCount: number;
  };
  readonly sections: readonly OutcomeSection[];
}

export interface OutcomeSection extends SectionTarget {
  readonly itemCount: number;
  readonly sectionHash: Uint8Array;
  /** size and SHA-256 of the section's file in an export; null when its items embed files */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
}

/** A stored dataset as lists and answers show it. */
export interface DatasetSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: DatasetSource;
  readonly versionHash: string;
  /** canonical JSON text */
  readonly schema: string;
  readonly sectionCount: number;
  readonly itemCount: number;
  readonly assetCount: number;
  /** at most the first 100, in order */
  readonly sections: readonly SectionSummary[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SectionSummary {
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
}

/** The write side of the store, as the import flows see it. */
export interface DatasetWriter {
  /**
   * Stores a dataset in one transaction: every chunk of rows, then what `finish` returns, which is called
   * once after the last chunk. A throw from either, or an abort, leaves nothing. A chunk is done with when the next
   * one is asked for.
   */
  saveDataset(
    rows: AsyncIterable<Uint8Array>,
    finish: () => ImportOutcome | Promise<ImportOutcome>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<DatasetSummary>;
}
