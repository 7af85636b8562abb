import {
  DEFAULT_ITEM_TYPE,
  type EncodedItemBytes,
  type FileReference,
  JsonlError,
  type JsonlErrorCode,
  type SourceLocation,
} from '@svc/jsonl-v23';
import { checkItemSize, itemSize, type LinkedFile } from '@svc/jsonl-v23/assets';
import { type EncodedLine, type LineBatch, LineEncoder, parseLines } from '@svc/jsonl-v23/lines';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import { createHashStates } from '../../assets/link/hash-item.ts';
import { type EmbeddedContent, type LinkedItem, linkItem } from '../../assets/link/link-item.ts';
import { writeLinkedFiles } from '../../assets/linked-files-column.ts';
import { putField, putInt32, putNull, uuidBytes } from '../../database/copy-format.ts';
import { ItemScan, utf8 } from '../../hub-files/item-scan.ts';
import {
  emptyProfile,
  type PartProfile,
  PROFILE_ITEMS,
  type Profile,
  type Profiler,
} from '../../hub-files/profile.ts';

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

/** The statement for the rows of {@link RowWriter}. */
export const COPY_ITEMS: string =
  'COPY items (part_id, ordinal, byte_length, item_hash, type, payload, answer, checker, assets, linked_files, linked_bytes, item_id) FROM STDIN (FORMAT binary)';

const FIELDS = 12;
const UUID_BYTES = 16;
const HASH_BYTES = 32;
/** Field count and part_id with its length, and the length of ordinal: the same in all rows. */
const HEAD_BYTES = 2 + (4 + UUID_BYTES) + 4;
/** The same, and ordinal, byte_length and item_hash with their lengths. */
const FIXED_BYTES = HEAD_BYTES + 4 + (4 + 4) + (4 + HASH_BYTES);
const TEXT_FIELDS = 7;
const INT64_BYTES = 8;
/** Bytes of a row without the texts of its item. */
const ROW_BYTES = FIXED_BYTES + TEXT_FIELDS * 4 + 4 + INT64_BYTES;
/** Room for an item's type, and for the bytes that canonical text may have more than the text read. */
const MARGIN_BYTES = 32;
const LINE_FEED = 10;
const DEFAULT_TYPE = Buffer.from(DEFAULT_ITEM_TYPE);

/**
 * Writes a batch of rows of `items` for a binary COPY, which needs no escaping. The texts must be canonical JSON in UTF-8.
 */
export class RowWriter {
  /** The first bytes of every row. */
  readonly #head: Uint8Array;
  #ordinal: number;
  #itemCount = 0;
  #itemBytes = 0;
  #embeddedBytes = 0;
  #assetCount = 0;
  #unaskedCount = 0;
  #hashes: Uint8Array<ArrayBuffer>;
  #rows: Uint8Array<ArrayBuffer>;
  #rowsEnd = 0;
  /** Null once an item embeds files */
  #lines: Uint8Array<ArrayBuffer> | null;
  #linesEnd = 0;

  /** By hash and media type. */
  readonly #contents = new Map<string, EmbeddedContent>();
  readonly #pool: BufferPool;
  readonly #scan = new ItemScan();
  readonly #profiler: Profiler | null;
  readonly #profiles: {
    readonly partId: string;
    readonly first: number;
    items: number;
    readonly profile: Profile;
  }[] = [];
  readonly #partId: string;

  /**
   * @param expected items, and bytes of their texts: the initial size of the buffers
   * @param options.keepsLines whether to keep the lines of an export, as long as no item embeds files
   */
  constructor(
    target: RowTarget,
    expected: { readonly items: number; readonly bytes: number },
    {
      pool = new BufferPool(),
      keepsLines = true,
      profiler = null,
    }: {
      readonly pool?: BufferPool;
      readonly keepsLines?: boolean;
      readonly profiler?: Profiler | null;
    } = {},
  ) {
    this.#pool = pool;
    this.#profiler = profiler;
    this.#partId = target.partId;
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeInt16BE(FIELDS, 0);
    head.writeInt32BE(UUID_BYTES, 2);
    head.set(uuidBytes(target.partId), 6);
    head.writeInt32BE(4, 6 + UUID_BYTES);
    this.#head = head;
    this.#ordinal = target.firstOrdinal;
    this.#hashes = pool.acquire(expected.items * HASH_BYTES);
    this.#rows = pool.acquire(expected.bytes + expected.items * (ROW_BYTES + MARGIN_BYTES));
    this.#lines = keepsLines ? pool.acquire(expected.bytes + expected.items * MARGIN_BYTES) : null;
  }

  add(item: EncodedItemBytes): void {
    this.#itemBytes += item.itemEnd - item.itemStart;
    if (this.#lines !== null) this.#addLine(item.bytes, item.itemStart, item.itemEnd);
    this.#addRow(item, NO_FILES, 0);
  }

  addLinked(item: LinkedItem): void {
    const { linkedFiles, linkedBytes } = item;
    this.#itemBytes += item.byteLength - linkedBytes;
    for (const { byteLength } of linkedFiles) this.#embeddedBytes += byteLength;
    this.#lines = null;
    for (const content of item.contents) {
      const key = `${content.sha256} ${content.mimeType ?? ''}`;
      if (!this.#contents.has(key)) this.#contents.set(key, content);
    }
    this.#addRow(rangesOf(item), linkedFiles, linkedBytes);
  }

  #addRow(item: RowTexts, linkedFiles: readonly LinkedFile[], linkedBytes: number): void {
    const { bytes, itemHash } = item;
    this.#addHash(itemHash);
    this.#assetCount += item.assetCount;
    const { idStart, idEnd } = this.#scan.read(bytes, item.payloadStart);
    if (this.#profiler !== null) {
      const { answerStart, answerEnd, assetsStart, assetsEnd } = item;
      const answer = answerStart === -1 ? null : bytes.subarray(answerStart, answerEnd);
      const assets = assetsStart === -1 ? null : utf8(bytes, assetsStart, assetsEnd);
      this.#profiler.add(this.#profile(), this.#scan, { answer, assets, linkedFiles });
    }
    if (!this.#scan.hasPrompt) this.#unaskedCount += 1;
    const links = linkedFiles.length === 0 ? null : Buffer.from(writeLinkedFiles(linkedFiles));
    const type = item.typeStart === -1 ? DEFAULT_TYPE.length : item.typeEnd - item.typeStart;
    const byteLength =
      item.payloadEnd -
      item.payloadStart +
      (item.answerEnd - item.answerStart) +
      (item.checkerEnd - item.checkerStart) +
      (item.assetsEnd - item.assetsStart);
    const needed = ROW_BYTES + (idEnd - idStart) + type + byteLength + (links?.byteLength ?? 0);
    if (this.#rowsEnd + needed > this.#rows.length) {
      this.#rows = this.#enlarge(this.#rows, this.#rowsEnd, needed);
    }
    const rows = this.#rows;
    let at = this.#putHead(byteLength, itemHash);
    at =
      item.typeStart === -1
        ? putField(rows, at, DEFAULT_TYPE, 0, DEFAULT_TYPE.length)
        : putField(rows, at, bytes, item.typeStart, item.typeEnd);
    at = putField(rows, at, bytes, item.payloadStart, item.payloadEnd);
    at = putField(rows, at, bytes, item.answerStart, item.answerEnd);
    at = putField(rows, at, bytes, item.checkerStart, item.checkerEnd);
    at = putField(rows, at, bytes, item.assetsStart, item.assetsEnd);
    if (links === null) at = putNull(rows, putNull(rows, at));
    else {
      at = putField(rows, at, links, 0, links.byteLength);
      at = putInt32(rows, at, INT64_BYTES);
      at = putInt32(rows, at, Math.floor(linkedBytes / 2 ** 32));
      at = putInt32(rows, at, linkedBytes);
    }
    this.#rowsEnd = putField(rows, at, bytes, idStart, idEnd);
  }

  /** The whole batch, each of its parts in its own buffer. */
  end(): EncodedRows {
    return {
      rows: this.#rows.subarray(0, this.#rowsEnd),
      itemCount: this.#itemCount,
      itemBytes: this.#itemBytes,
      embeddedBytes: this.#embeddedBytes,
      itemHashes: this.#hashes.subarray(0, this.#itemCount * HASH_BYTES),
      assetCount: this.#assetCount,
      unaskedCount: this.#unaskedCount,
      lines: this.#lines === null ? null : this.#lines.subarray(0, this.#linesEnd),
      contents: [...this.#contents.values()],
      profiles: this.#profiles,
      failures: null,
    };
  }

  /** The profile of the block that the next item belongs to. */
  #profile(): Profile {
    const first = this.#ordinal;
    let last = this.#profiles.at(-1);
    if (last === undefined || first % PROFILE_ITEMS === 0) {
      last = { partId: this.#partId, first, items: 0, profile: emptyProfile() };
      this.#profiles.push(last);
    }
    last.items += 1;
    return last.profile;
  }

  /** Writes the first fields of a row. Returns the position after them. */
  #putHead(byteLength: number, itemHash: Uint8Array): number {
    const rows = this.#rows;
    rows.set(this.#head, this.#rowsEnd);
    let at = putInt32(rows, this.#rowsEnd + this.#head.length, this.#ordinal);
    this.#ordinal += 1;
    at = putInt32(rows, at, 4);
    at = putInt32(rows, at, byteLength);
    at = putInt32(rows, at, HASH_BYTES);
    rows.set(itemHash, at);
    return at + HASH_BYTES;
  }

  #addHash(itemHash: Uint8Array): void {
    const at = HASH_BYTES * this.#itemCount;
    this.#itemCount += 1;
    if (at + HASH_BYTES > this.#hashes.length) this.#hashes = this.#enlarge(this.#hashes, at, HASH_BYTES);
    this.#hashes.set(itemHash, at);
  }

  #addLine(bytes: Uint8Array, start: number, end: number): void {
    let lines = this.#lines as Uint8Array<ArrayBuffer>;
    const length = end - start;
    if (this.#linesEnd + length >= lines.length) {
      lines = this.#enlarge(lines, this.#linesEnd, length + 1);
      this.#lines = lines;
    }
    lines.set(bytes.subarray(start, end), this.#linesEnd);
    this.#linesEnd += length;
    lines[this.#linesEnd] = LINE_FEED;
    this.#linesEnd += 1;
  }

  #enlarge(bytes: Uint8Array<ArrayBuffer>, used: number, needed: number): Uint8Array<ArrayBuffer> {
    const larger = this.#pool.acquire(Math.max(used + needed, Math.ceil(bytes.length * 1.5)));
    larger.set(bytes.subarray(0, used));
    this.#pool.release(bytes.buffer);
    return larger;
  }
}

const NO_FILES: readonly LinkedFile[] = [];

type RowTexts = Omit<EncodedItemBytes, 'itemStart' | 'itemEnd'>;

function rangesOf({ itemHash, assetCount, type, payload, answer, checker, assets }: LinkedItem): RowTexts {
  const bytes = Buffer.from(type + payload + (answer ?? '') + (checker ?? '') + (assets ?? ''));
  let end = 0;
  const rangeOf = (text: string | null): readonly [start: number, end: number] => {
    if (text === null) return [-1, -1];
    const start = end;
    end += Buffer.byteLength(text);
    return [start, end];
  };
  const [typeStart, typeEnd] = rangeOf(type);
  const [payloadStart, payloadEnd] = rangeOf(payload);
  const [answerStart, answerEnd] = rangeOf(answer);
  const [checkerStart, checkerEnd] = rangeOf(checker);
  const [assetsStart, assetsEnd] = rangeOf(assets);
  return {
    ...{ bytes, itemHash, assetCount, typeStart, typeEnd, payloadStart, payloadEnd },
    ...{ answerStart, answerEnd, checkerStart, checkerEnd, assetsStart, assetsEnd },
  };
}

/** Larger buffers are not kept, so that one long line does not stay in memory. */
const MAX_BUFFER_BYTES = 4 * 1024 * 1024;
/** What the kept buffers may take together: those of the usual batches. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Sizes are rounded up to a multiple of this, so that a buffer fits the next batch too. */
const STEP_BYTES = 64 * 1024;

/**
 * Used buffers, to be used again. Allocating memory outside of the heap for every batch would cost more garbage collection
 * than encoding the batch costs.
 */
export class BufferPool {
  readonly #free: ArrayBuffer[] = [];
  #keptBytes = 0;

  /** A buffer with room for `byteCount` bytes, with arbitrary content. */
  acquire(byteCount: number): Uint8Array<ArrayBuffer> {
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= byteCount);
    const [buffer] = found === -1 ? [] : this.#free.splice(found, 1);
    if (buffer !== undefined) {
      this.#keptBytes -= buffer.byteLength;
      return new Uint8Array(buffer);
    }
    const size = byteCount < STEP_BYTES ? byteCount : Math.ceil(byteCount / STEP_BYTES) * STEP_BYTES;
    return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
  }

  /** Takes back a buffer that is no longer used; one for which there is no room is freed immediately. */
  release(buffer: ArrayBuffer): void {
    const { byteLength } = buffer;
    if (byteLength < STEP_BYTES) return;
    if (byteLength > MAX_BUFFER_BYTES || this.#keptBytes + byteLength > MAX_KEPT_BYTES) {
      // Every batch brings a buffer along. Left to the garbage collector, they would make it mark the whole heap again and again.
      if (!buffer.detached) buffer.transfer(0);
      return;
    }
    this.#keptBytes += byteLength;
    this.#free.push(buffer);
  }

  drain(): ArrayBuffer[] {
    this.#keptBytes = 0;
    return this.#free.splice(0);
  }
}

/** Makes what encodes batches: the result depends on the arguments alone, so it may run on any thread. */
export function createBatchEncoder(pool: BufferPool, profiler: Profiler | null = null) {
  const lineEncoder = new LineEncoder({ keepsItems: true });
  const states = createHashStates();

  /** Every item of a batch, with the files that it refers to. */
  function itemFiles(batch: LineBatch, options: LineOptions): NeedsFiles['items'] {
    return Array.from(lineEncoder.encode(batch, options), (line) => {
      const { line: number, lineStart: start, lineEnd: end, references } = line;
      const itemBytes = itemBytesOf(line);
      checkLine(itemBytes, number, options);
      return { line: number, start, end, itemBytes, references };
    });
  }

  function encodeItems(batch: LineBatch, target: RowTarget, options: LineOptions): EncodedRows | NeedsFiles {
    const { bytes, itemCount } = batch;
    const rows = new RowWriter(target, { items: itemCount, bytes: bytes.byteLength }, { pool, profiler });
    for (const line of lineEncoder.encode(batch, options)) {
      if (line.needsFiles) {
        return { needsFiles: true, bytes, items: itemFiles(batch, options), failures: null };
      }
      if (line.item === null) {
        checkLine(itemBytesOf(line), line.line, options);
        rows.add(line);
      } else {
        const item = linkItem(line.item);
        checkLine(item.byteLength, line.line, options);
        rows.addLinked(item);
      }
    }
    return rows.end();
  }

  /** A batch with a faulty line, each of whose lines is checked. Files are not read. */
  function checkLines(batch: LineBatch, options: LineOptions): EncodedRows | NeedsFiles {
    const counter = new FaultList();
    const items: ItemFiles[] = [];
    for (const single of singleLines(batch)) counter.run(() => items.push(...itemFiles(single, options)));
    const { failures } = counter;
    const needsFiles = items.some(({ references }) => references.length > 0);
    return needsFiles
      ? { needsFiles, bytes: batch.bytes, items, failures }
      : countedRows(items.length, failures);
  }

  return {
    /**
     * Parses, validates, canonicalises, hashes and encodes lines. Of a batch with faulty lines it returns the failures, one for
     * each of them, and the files that the others need. Failures are the errors of `parseLines`, and `line_too_long` for an
     * item whose canonical text is longer than a line may be.
     */
    encodeLines(batch: LineBatch, target: RowTarget, options: LineOptions): EncodedRows | NeedsFiles {
      try {
        return encodeItems(batch, target, options);
      } catch (error) {
        // The first faulty line ends the encoding of a batch.
        if (!(error instanceof JsonlError)) throw error;
        return checkLines(batch, options);
      }
    },
    /** Does the same for lines whose files have been read and counted. */
    encodeFilled(
      { batch, contents }: Pick<FilledLines, 'batch' | 'contents'>,
      target: RowTarget,
      options: LineOptions,
    ): EncodedRows {
      const expected = { items: batch.itemCount, bytes: batch.bytes.byteLength };
      const rows = new RowWriter(target, expected, { pool, profiler, keepsLines: false });
      for (const [index, { item }] of parseLines(batch, options).entries()) {
        rows.addLinked(linkItem(item, { contents: contents[index] ?? [], origins: options.origins }, states));
      }
      return rows.end();
    },
  };
}

/** Bytes of the canonical text of an item; of one that refers to files, without them. */
const itemBytesOf = ({ item, itemStart, itemEnd }: EncodedLine): number => {
  if (item === null) return itemEnd - itemStart;
  const { textBytes, base64Bytes } = itemSize(item);
  return textBytes + base64Bytes;
};

function* singleLines({ bytes, firstLine }: LineBatch): Generator<LineBatch> {
  let line = firstLine;
  for (let start = 0; start < bytes.length; line++) {
    const lineFeed = bytes.indexOf(LINE_FEED, start);
    const end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    yield { bytes: bytes.subarray(start, end), firstLine: line, lineCount: 1, itemCount: 1 };
    start = end;
  }
}

/** A line within the limit may have a canonical text beyond it: `1e20` becomes 21 digits. */
function checkLine(itemBytes: number, line: number, { file, maxLineBytes }: LineOptions): void {
  if (itemBytes <= maxLineBytes) return;
  checkItemSize(itemBytes, 0, { maxItemBytes: maxLineBytes, location: { file, line } });
}
