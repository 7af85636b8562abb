import { joinBytes, transferBuffer } from '@svc/jsonl-v23/bytes';
import { crc32 } from '#runtime';
import { shorten } from '../errors.ts';
import type { FetchedRanges } from '../source/byte-ranges.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { createYielder } from '../source/turns.ts';
import { type CellValues, compileConverter, holdsTexts, type LeafColumn } from './cells/convert.ts';
import type { PageInflater } from './codecs/inflate-page.ts';
import { DataPage, openDataPage, RowBuffer } from './data-page.ts';
import { decodeDictionary } from './encodings/dictionary.ts';
import { type PageHead, readPageHead } from './metadata/page-header.ts';
import { nameOf, type ParquetFile } from './open-parquet.ts';
import { damaged, EndOfBytesError, toTableError, translateErrors, unsupported } from './parquet-error.ts';
import { blockSize, type ChunkPlan, type GroupPlan } from './plan-chunks.ts';

/** Statistics in a page's header may repeat whole values. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** Entries of a page that are decoded in one step; a few bytes may encode any number of them. */
const MAX_ENTRIES_AT_ONCE = 8192;
const MAX_ENTRIES_OF_ALL = 2 ** 22;
/** Memory that an entry of an unfinished row takes, about, for each level of nesting. */
const BYTES_PER_ENTRY = 48;

/** Bytes that pages, dictionaries and unfinished rows of one reader may have at the same time. */
const MAX_HELD_BYTES = 512 * 1024 * 1024;

export interface GroupReading {
  readonly ranges: FetchedRanges;
  readonly inflater: PageInflater;
  readonly memory: { heldBytes: number };
  readonly signal: AbortSignal;
}

class BlockReader {
  readonly #file: ByteSource;
  readonly #plan: ChunkPlan;
  readonly #blockBytes: number;
  readonly #signal: AbortSignal;
  #offset: number;
  #ahead: Promise<Uint8Array<ArrayBuffer>> | null = null;
  /** Bytes that have been fetched and not passed. */
  bytes: Uint8Array = new Uint8Array();

  constructor(file: ByteSource, plan: ChunkPlan, blockBytes: number, signal: AbortSignal) {
    this.#file = file;
    this.#plan = plan;
    this.#blockBytes = blockBytes;
    this.#signal = signal;
    this.#offset = plan.pages.start;
  }

  get left(): number {
    return this.#plan.pages.end - this.#offset;
  }

  /** Passes the next bytes and fetches the next block while they are decoded, if all pages are needed. */
  take(length: number): Uint8Array {
    const taken = this.bytes.subarray(0, length);
    this.bytes = this.bytes.subarray(length);
    this.#offset += length;
    const end = this.#offset + this.bytes.length;
    if (this.#plan.isExact && this.#ahead === null && end !== this.#plan.pages.end) {
      this.#ahead = this.#fetch(end, 1);
      this.#ahead.catch(() => undefined);
    }
    return taken;
  }

  /** Appends the next bytes, so that `bytes` has at least `length`. @throws errors of the source */
  async fetchMore(length: number): Promise<void> {
    const end = this.#offset + this.bytes.length;
    const block = await (this.#ahead ?? this.#fetch(end, length - this.bytes.length));
    this.#ahead = null;
    this.bytes = joinBytes([this.bytes, block]);
    transferBuffer(block.buffer, 0);
  }

  #fetch(start: number, atLeastBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const { pages, isExact, firstBytes } = this.#plan;
    const step = isExact ? this.#blockBytes : firstBytes;
    const end = Math.min(start + Math.max(step, atLeastBytes), pages.end);
    return this.#file.readRange(start, end, this.#signal);
  }
}

/** Reads the rows of one leaf of a row group, page by page. @throws TableError `damaged_file`, `unsupported_file` */
export class ChunkReader {
  readonly #file: ParquetFile;
  readonly #group: number;
  readonly #plan: ChunkPlan;
  readonly #reading: GroupReading;
  readonly #blocks: BlockReader;
  readonly #column: LeafColumn;
  readonly #name: string;
  readonly #maxEntries: number;
  #skip: number;
  #isStarted = false;
  #valuesLeft: number;
  #dictionary: CellValues | undefined;
  #page: DataPage | undefined;
  #pageNumber = -1;
  readonly #rows = new RowBuffer();
  readonly #held = { page: 0, dictionary: 0, row: 0 };

  constructor(file: ParquetFile, { group, from, chunks }: GroupPlan, plan: ChunkPlan, reading: GroupReading) {
    const shape = file.leaves[plan.leaf];
    const chunk = file.groups[group]?.chunks[plan.leaf];
    const element = shape?.path.at(-1)?.element;
    if (shape === undefined || chunk === undefined || element === undefined) {
      throw new RangeError(`The file has no leaf ${plan.leaf} in row group ${group}.`);
    }
    const { type, codec, num_values: values } = chunk.metadata;
    const convert = translateErrors(file.path, () => compileConverter(shape.path));
    this.#file = file;
    this.#group = group;
    this.#plan = plan;
    this.#reading = reading;
    this.#blocks = new BlockReader(file.bytes, plan, blockSize(chunks.length), reading.signal);
    this.#column = {
      ...{ ...shape, type, typeLength: element.type_length, codec, convert },
      holdsTexts: holdsTexts(element),
    };
    this.#name = nameOf(shape);
    const ofAll = Math.floor(MAX_ENTRIES_OF_ALL / file.leaves.length);
    this.#maxEntries = Math.max(1, Math.min(MAX_ENTRIES_AT_ONCE, ofAll));
    this.#skip = from - plan.firstRow;
    this.#valuesLeft = values;
  }

  /** Decodes until at least one requested row is ready. @returns how many are */
  async prepare(): Promise<number> {
    const rows = this.#rows;
    if (!this.#isStarted) await this.#start();
    const nextTurn = createYielder();
    while (true) {
      this.#reading.signal.throwIfAborted();
      const dropped = Math.min(this.#skip, rows.ready);
      if (dropped > 0) {
        rows.take(dropped);
        this.#skip -= dropped;
      }
      if (rows.ready > 0) return rows.ready;
      if (this.#page !== undefined && this.#page.left > 0) this.#decode(this.#page);
      else await this.#nextPage();
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
  }

  /** Takes the next rows; at most as many as are ready. */
  take(count: number): CellValues {
    return this.#rows.take(count);
  }

  release(): void {
    this.#releasePage();
    this.#hold('dictionary', 0);
    this.#hold('row', 0);
  }

  async #start(): Promise<void> {
    this.#isStarted = true;
    const { dictionary, pages, firstBytes } = this.#plan;
    const { ranges } = this.#reading;
    if (dictionary !== null) {
      const bytes = await ranges.get(dictionary);
      await this.#openPage(
        this.#located(() => readPageHead(bytes)),
        bytes,
      );
    }
    this.#blocks.bytes = await ranges.get({ start: pages.start, end: pages.start + firstBytes });
  }

  async #nextPage(): Promise<void> {
    const { path } = this.#file;
    const blocks = this.#blocks;
    while (blocks.left > (this.#valuesLeft === 0 ? this.#plan.slackBytes : 0)) {
      const head = this.#located(() => readFetchedHead(blocks.bytes));
      const fetched = blocks.bytes.length;
      // Twice as much each time: a header without an end costs no more than reading its bytes twice.
      const length =
        head === null
          ? Math.min(fetched * 2 + 1, Math.max(blocks.left, fetched + 1))
          : head.headerBytes + head.bodyBytes;
      if (length > fetched) {
        if (length > blocks.left) throw toTableError(damaged('a page is cut off'), path);
        await blocks.fetchMore(length);
        continue;
      }
      const page = blocks.take(length);
      if (head === null || head.kind === 'other') continue;
      // Without lists, a page has as many rows as values.
      const isFlat = head.kind === 'data' && this.#column.maxRepetition === 0;
      if (!isFlat || head.valueCount > this.#skip) return await this.#openPage(head, page);
      // The page is before the first requested row.
      this.#skip -= head.valueCount;
    }
    // No page continues the last row.
    this.#rows.finish();
    this.#hold('row', 0);
    if (this.#rows.ready > 0) return;
    throw toTableError(damaged('a column has fewer rows than its group'), path);
  }

  /** Opens a page, its header included, and drops the rest of the page before. */
  async #openPage(head: PageHead, bytes: Uint8Array): Promise<void> {
    this.#pageNumber += 1;
    this.#releasePage();
    const { kind, header, uncompressedBytes, valueCount } = head;
    const { inflater } = this.#reading;
    const body = bytes.subarray(head.headerBytes);
    try {
      if (header.crc !== undefined && crc32(body.subarray(0, head.bodyBytes)) !== header.crc >>> 0) {
        throw damaged('its bytes do not match its CRC');
      }
      if (kind === 'dictionary') {
        this.#hold('dictionary', uncompressedBytes);
        const { values, overheadBytes } = await decodeDictionary(body, header, this.#column, inflater);
        this.#hold('dictionary', uncompressedBytes + overheadBytes);
        this.#dictionary = values;
      } else if (kind === 'data') {
        if (valueCount > this.#valuesLeft) throw damaged('it holds more values than its column');
        this.#valuesLeft -= valueCount;
        this.#hold('page', uncompressedBytes);
        const opened = await openDataPage(body, header, this.#column, inflater);
        this.#page = new DataPage(opened, this.#column, this.#dictionary);
      }
    } catch (error) {
      throw toTableError(error, this.#file.path, this.#place);
    }
  }

  #decode(page: DataPage): void {
    const { maxRepetition, maxDefinition } = this.#column;
    this.#located(() => {
      const entries = Math.min(this.#maxEntries, page.left);
      const decoded = page.next(entries, this.#rows.open);
      if (maxRepetition === 0) return this.#rows.set(decoded);
      const openEntries = this.#rows.setNested(decoded as unknown[], entries);
      this.#hold('row', openEntries * BYTES_PER_ENTRY * maxDefinition);
    });
  }

  #releasePage(): void {
    const page = this.#page;
    if (page === undefined) return;
    this.#page = undefined;
    this.#hold('page', 0);
    // Numbers and bytes may be views of it.
    if (this.#column.holdsTexts && this.#reading.inflater.isPage(page.memory)) {
      transferBuffer(page.memory as ArrayBuffer, 0);
    }
  }

  /** Counts the memory of the page, the dictionary or the unfinished row. @throws ParquetError */
  #hold(what: 'page' | 'dictionary' | 'row', bytes: number): void {
    const { memory } = this.#reading;
    memory.heldBytes += bytes - this.#held[what];
    this.#held[what] = bytes;
    if (memory.heldBytes <= MAX_HELD_BYTES) return;
    throw unsupported(`its columns need more than ${MAX_HELD_BYTES} bytes of memory`);
  }

  /** Runs a step of decoding. @throws TableError with the place in the file */
  #located<T>(step: () => T): T {
    return translateErrors(this.#file.path, step, this.#place);
  }

  readonly #place = (): string =>
    `column ${shorten(this.#name)}, row group ${this.#group}, page ${Math.max(this.#pageNumber, 0)}: `;
}

/** The page header at the start of the fetched bytes; null if it is longer than they are. @throws ParquetError */
function readFetchedHead(bytes: Uint8Array): PageHead | null {
  try {
    return readPageHead(bytes);
  } catch (error) {
    if (error instanceof EndOfBytesError && bytes.length < MAX_HEADER_BYTES) return null;
    throw error;
  }
}
