import { type FileReference, JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';
import type { LineBatch } from '@svc/jsonl-v23/lines';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import type { EmbeddedContent } from '../../assets/link/link-item.ts';
import type { PartProfile } from '../../hub-files/profile.ts';

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

/** A batch with references to files of its archive, which must be read, or looked for if other lines are faulty. */
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

/** A JsonlError as its members, because structured cloning between threads loses classes. */
export interface Failure {
  readonly code: JsonlErrorCode;
  readonly message: string;
  readonly location: SourceLocation;
  readonly cause: unknown;
}

export function toFailure({ code, message, location, cause }: JsonlError): Failure {
  return { code, message, location, cause };
}

export function toError({ code, message, location, cause }: Failure): JsonlError {
  return new JsonlError(code, message, location, cause === undefined ? undefined : { cause });
}

export interface RowFailures {
  /** The first {@link MAX_ROW_FAILURES}. */
  readonly first: readonly Failure[];
  readonly total: number;
}

/** Failures of rows that are kept; the others are counted. */
export const MAX_ROW_FAILURES = 100;

/** The failures of the lines of one batch that two passes found, in the order of the lines. */
export function mergeFailures(one: RowFailures | null, other: RowFailures | null): RowFailures | null {
  if (one === null || other === null) return one ?? other;
  const first = [...one.first, ...other.first].sort(
    (a, b) => (a.location.line ?? 0) - (b.location.line ?? 0),
  );
  return { first: first.slice(0, MAX_ROW_FAILURES), total: one.total + other.total };
}

/** Invalid lines and rows, of a batch or of an import: the first 100, and how many. */
export class FaultList {
  readonly first: JsonlError[] = [];
  total = 0;

  /** As members that pass between threads; null if there are none. */
  get failures(): RowFailures | null {
    return this.total === 0 ? null : { first: this.first.map(toFailure), total: this.total };
  }

  /** @param file where the failures are that do not name one */
  add(failures: RowFailures, file?: string): void {
    this.total += failures.total;
    const room = MAX_ROW_FAILURES - this.first.length;
    for (const failure of failures.first.slice(0, room)) this.first.push(inFile(toError(failure), file));
  }

  /** @param error null for a row that comes after all that are kept */
  addError(error: JsonlError | null): void {
    this.total += 1;
    if (error !== null && this.first.length < MAX_ROW_FAILURES) this.first.push(error);
  }

  /** Runs work, and counts its JsonlError; any other error passes. */
  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      this.addError(error);
    }
  }
}

function inFile(error: JsonlError, file: string | undefined): JsonlError {
  const { code, message, location } = error;
  if (file === undefined || location.file !== undefined) return error;
  return new JsonlError(code, message, { ...location, file }, { cause: error });
}

const MAX_PATH_LENGTH = 200;

/** What is wrong with a reference to a file where no files come with the items, as they do in packages. */
export function onlyInPackages(path: string, pointer: string): string {
  const shown = JSON.stringify(path.slice(0, MAX_PATH_LENGTH));
  return `${pointer} must not refer to a file that only a package can hold, got ${shown}`;
}

export interface RowTarget {
  readonly partId: string;
  /** Position of the batch's first item in the part. */
  readonly firstOrdinal: number;
}

/** A batch for a thread to encode. The thread takes over the buffers of the batch, its files, and the spare ones. */
export interface EncodeTask {
  readonly batch: LineBatch;
  /** As in {@link FilledLines}; null for lines whose files have not been read. */
  readonly contents: FilledLines['contents'] | null;
  readonly target: RowTarget;
  readonly options: LineOptions;
  readonly spare: readonly ArrayBuffer[];
}

export function buffers(views: readonly ArrayBufferView[]): ArrayBuffer[] {
  return [...new Set(views.map(({ buffer }) => buffer as ArrayBuffer))].filter(
    ({ byteLength }) => byteLength > 0,
  );
}
