import type { FileReference } from '@svc/jsonl-v23';
import type { LineBatch } from '@svc/jsonl-v23/internal';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import type { EmbeddedContent } from '../../assets/link/link-item.ts';
import type { PartProfile } from '../../hub-files/profile.ts';
import type { RowFailures } from './row-failures.ts';

/** A batch of items as rows of `items`, with what is counted and hashed of them. */
export interface EncodedRows {
  /** In the binary format of COPY, without its header. */
  readonly rows: Uint8Array;
  readonly itemCount: number;
  /** Total size of the items' canonical texts, with links in place of their files. */
  readonly itemBytes: number;
  /** Total size of the files that the items embed, once for each reference. */
  readonly embeddedBytes: number;
  /** `itemCount` times 32 bytes, in item order. */
  readonly itemHashes: Uint8Array;
  readonly assetCount: number;
  /** Items without a prompt or messages. */
  readonly unaskedCount: number;
  /**
   * The canonical lines of these items, each ended by LF, as an export writes them; null when an item
   * embeds a file, which an export moves out of the line.
   */
  readonly lines: Uint8Array | null;
  /** The files that the items embed, in the order of their first references; one of each media type. */
  readonly contents: readonly EmbeddedContent[];
  /** What the items are, of batches that a thread encoded. */
  readonly profiles: readonly PartProfile[];
  /** Failures of invalid lines or rows. A batch with invalid lines has no rows, but the number of its items. */
  readonly failures: RowFailures | null;
}

/** A batch that is not stored, only its items and invalid lines are counted. */
export function countedRows(itemCount: number, failures: RowFailures | null): EncodedRows {
  const none = {
    rows: new Uint8Array(),
    itemBytes: 0,
    itemHashes: new Uint8Array(),
    assetCount: 0,
    unaskedCount: 0,
    embeddedBytes: 0,
    lines: null,
    contents: [],
    profiles: [],
  };
  return { ...none, itemCount, failures };
}

/**
 * A batch with an item that refers to files of its archive: they must be read first, or, if other lines are faulty, looked
 * for.
 */
export interface NeedsFiles {
  readonly needsFiles: true;
  /** The batch's buffer, returned to the caller. */
  readonly bytes: Uint8Array;
  /** All items of the batch, in order; without those of faulty lines. */
  readonly items: readonly ItemFiles[];
  /** Of faulty lines. A batch with them is not encoded. */
  readonly failures: RowFailures | null;
}

/** An item of a batch, and the files that it refers to. */
export interface ItemFiles {
  /** 1-based line of the section. */
  readonly line: number;
  /** Start and end of the line in the bytes of the batch, without its line feed. */
  readonly start: number;
  readonly end: number;
  /** Size of the item's canonical text, without its files. */
  readonly itemBytes: number;
  readonly references: readonly FileReference[];
}

/** Lines and the files that their items refer to. */
export interface FilledLines {
  readonly batch: LineBatch;
  /** For each item the contents of its references, in their order; the same array where it is the same file. */
  readonly contents: readonly (readonly Uint8Array[])[];
  /** Total size of the items' canonical texts, files included. */
  readonly itemBytes: number;
}

/** The files of lines, each once. */
export function distinctFiles(contents: FilledLines['contents']): Uint8Array[] {
  return [...new Set(contents.flat())];
}

/** Encoded lines whose files stay with the caller: contents of files that it gave come back without their bytes. */
export interface FilledRows extends EncodedRows {
  /** For each of the contents, which of the distinct files it is, in the order of the lines; null for any other. */
  readonly fileIndexes: readonly (number | null)[];
}

/** Options that apply to all lines of a section. */
export interface LineOptions {
  readonly file: string;
  readonly maxDepth: number;
  /** Longest canonical text of an item, files included. */
  readonly maxLineBytes: number;
  /** Origins of this service, whose links to stored files become these files; without them, links stay links. */
  readonly origins?: readonly string[] | undefined;
}

/** How rows become items: see `compileMapping`. */
export interface MappingPlan {
  readonly mapping: Mapping;
  readonly features: readonly MappableFeature[];
  /** Longest canonical text of an item. */
  readonly maxItemBytes: number;
}
