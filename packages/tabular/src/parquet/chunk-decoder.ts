import { transferBuffer } from '@svc/jsonl-v23/bytes';
import { crc32 } from '#runtime';
import { shorten, type TableError } from '../errors.ts';
import { type CellValues, compileConverter, holdsTexts, type LeafColumn } from './cells/convert.ts';
import type { PageInflater } from './codecs/inflate-page.ts';
import { DataPage, openDataPage, RowBuffer } from './data-page.ts';
import { type Dictionary, decodeDictionary } from './encodings/dictionary.ts';
import { nameOf, type ParquetFooter } from './metadata/footer.ts';
import { type PageHead, readPageHead } from './metadata/page-header.ts';
import { damaged, EndOfBytesError, toTableError, translateErrors, unsupported } from './parquet-error.ts';

/** Statistics in a page's header may repeat whole values. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** Entries of a page that are decoded in one step; a few bytes may encode any number of them. */
const MAX_ENTRIES_AT_ONCE = 8192;
/** Entries that are decoded in one step of all columns together. */
const MAX_ENTRIES_OF_ALL = 2 ** 22;
/** Memory that an entry of an unfinished row takes, about, for each level of nesting. */
const BYTES_PER_ENTRY = 48;

/** What the decoders of one file share. */
export interface ParquetDecoding {
  readonly inflater: PageInflater;
  readonly budget: MemoryBudget;
}

/** One leaf of one row group. */
export interface LeafSelection {
  readonly group: number;
  readonly leaf: number;
  readonly file: string;
}

function openLeaf(
  footer: ParquetFooter,
  { group, leaf, file }: LeafSelection,
): { name: string; values: number; column: LeafColumn } {
  const shape = footer.leaves[leaf];
  const chunk = footer.groups[group]?.chunks[leaf];
  const element = shape?.path.at(-1)?.element;
  if (shape === undefined || chunk === undefined || element === undefined) {
    throw new RangeError(`The file has no leaf ${leaf} in row group ${group}.`);
  }
  const { type, codec, num_values: values } = chunk.metadata;
  const convert = translateErrors(file, () => compileConverter(shape.path));
  const column = {
    ...shape,
    type,
    typeLength: element.type_length,
    codec,
    convert,
    holdsTexts: holdsTexts(element),
  };
  return { name: nameOf(shape), values, column };
}

/** Entries that are decoded in one step, so that all leaves together stay bounded. */
function maxEntriesOf({ leaves }: ParquetFooter): number {
  return Math.max(1, Math.min(MAX_ENTRIES_AT_ONCE, Math.floor(MAX_ENTRIES_OF_ALL / leaves.length)));
}

/** The location of a page, for errors. */
class PageLocation {
  readonly #file: string;
  readonly #column: string;
  readonly #group: number;
  /** Number of the page in its chunk; -1 before the first. */
  page = -1;

  constructor(file: string, column: string, group: number) {
    this.#file = file;
    this.#column = column;
    this.#group = group;
  }

  /** Runs a step of decoding. @throws TableError with the location */
  run<T>(step: () => T): T {
    return translateErrors(this.#file, step, () => this.#describe());
  }

  /** The error with the location. */
  toTableError(error: unknown): TableError {
    return toTableError(error, this.#file, () => this.#describe());
  }

  #describe(): string {
    return `column ${shorten(this.#column)}, row group ${this.#group}, page ${Math.max(this.page, 0)}: `;
  }
}

/** Checks the page against its CRC, if it has one. @throws ParquetError */
function checkCrc({ header: { crc }, bodyBytes }: PageHead, body: Uint8Array): void {
  if (crc !== undefined && crc32(body.subarray(0, bodyBytes)) !== crc >>> 0) {
    throw damaged('its bytes do not match its CRC');
  }
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

/** Decodes the pages of one chunk, one after another. Its methods throw `damaged_file` and `unsupported_file`. */
export class ChunkDecoder {
  readonly #location: PageLocation;
  readonly #column: LeafColumn;
  readonly #decoding: ParquetDecoding;
  readonly #maxEntries: number;
  #valuesLeft: number;
  #dictionary: Dictionary | undefined;
  #page: DataPage | undefined;
  readonly #rows = new RowBuffer();
  readonly #held = { page: 0, dictionary: 0, row: 0 };

  constructor(footer: ParquetFooter, selection: LeafSelection, decoding: ParquetDecoding) {
    const { name, values, column } = openLeaf(footer, selection);
    this.#location = new PageLocation(selection.file, name, selection.group);
    this.#decoding = decoding;
    this.#maxEntries = maxEntriesOf(footer);
    this.#valuesLeft = values;
    this.#column = column;
  }

  /** Rows that are decoded, adjacent and not taken yet. */
  get ready(): number {
    return this.#rows.ready;
  }

  /** Whether rows of the page are still to be decoded. */
  get hasMore(): boolean {
    return this.#page !== undefined && this.#page.left > 0;
  }

  /** Whether no value of the chunk is left in further pages. */
  get isComplete(): boolean {
    return this.#valuesLeft === 0;
  }

  /** The header of the page at the beginning of `bytes`; null if reading it takes more bytes. */
  head(bytes: Uint8Array): PageHead | null {
    return this.#location.run(() => readFetchedHead(bytes));
  }

  /** Rows that begin in a page, if that is known without decoding it. */
  rowsOf({ kind, valueCount }: PageHead): number | null {
    return kind === 'data' && this.#column.maxRepetition === 0 ? valueCount : null;
  }

  /** Takes one whole page, its header included, and drops the rest of the page before. */
  async page(bytes: Uint8Array): Promise<void> {
    this.#location.page += 1;
    this.#releasePage();
    const head = this.#location.run(() => readPageHead(bytes));
    const body = bytes.subarray(head.headerBytes);
    try {
      checkCrc(head, body);
      if (head.kind === 'dictionary') await this.#readDictionary(head, body);
      else if (head.kind === 'data') await this.#openPage(head, body);
    } catch (error) {
      throw this.#location.toTableError(error);
    }
  }

  /** Decodes the next rows of the page, if there are any and none are ready. */
  decode(): void {
    const page = this.#page;
    if (page === undefined || page.left === 0 || this.ready > 0) return;
    const { maxRepetition, maxDefinition } = this.#column;
    this.#location.run(() => {
      const entries = Math.min(this.#maxEntries, page.left);
      const decoded = page.next(entries, this.#rows.open);
      if (maxRepetition === 0) return this.#rows.set(decoded);
      const openEntries = this.#rows.setNested(decoded as unknown[], entries);
      this.#hold('row', openEntries * BYTES_PER_ENTRY * maxDefinition);
    });
  }

  /** Takes the next rows; at most `ready`. */
  take(count: number): CellValues {
    return this.#rows.take(count);
  }

  /** Completes the last row: no page follows. */
  finish(): void {
    this.#rows.finish();
    this.#hold('row', 0);
  }

  /** Gives back the memory that it holds. */
  release(): void {
    this.#releasePage();
    this.#hold('dictionary', 0);
    this.#hold('row', 0);
  }

  async #readDictionary(head: PageHead, body: Uint8Array): Promise<void> {
    const { uncompressedBytes, header } = head;
    this.#hold('dictionary', uncompressedBytes);
    const { values, overheadBytes } = await decodeDictionary(
      body,
      header,
      this.#column,
      this.#decoding.inflater,
    );
    this.#hold('dictionary', uncompressedBytes + overheadBytes);
    this.#dictionary = values;
  }

  async #openPage({ valueCount, uncompressedBytes, header }: PageHead, body: Uint8Array): Promise<void> {
    if (valueCount > this.#valuesLeft) throw damaged('it holds more values than its column');
    this.#valuesLeft -= valueCount;
    this.#hold('page', uncompressedBytes);
    const opened = await openDataPage(body, header, this.#column, this.#decoding.inflater);
    this.#page = new DataPage(opened, this.#column, this.#dictionary);
  }

  #releasePage(): void {
    const page = this.#page;
    if (page === undefined) return;
    this.#page = undefined;
    this.#hold('page', 0);
    // Numbers and bytes may be views of it.
    if (this.#column.holdsTexts && this.#decoding.inflater.isPage(page.memory)) {
      transferBuffer(page.memory as ArrayBuffer, 0);
    }
  }

  /** Counts the memory of the page, the dictionary or the unfinished row. @throws ParquetError */
  #hold(what: 'page' | 'dictionary' | 'row', bytes: number): void {
    this.#held[what] = this.#decoding.budget.change(this.#held[what], bytes);
  }
}

/** Bytes that pages, dictionaries and unfinished rows of one reader may have at the same time. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Counts what decoding one file holds in memory, over all of its columns. */
export class MemoryBudget {
  #held = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Counts a change of the memory that is held.
   * @returns `after`
   * @throws ParquetError if the sum becomes too large
   */
  change(before: number, after: number): number {
    if (this.#held - before + after > this.#maxBytes) {
      throw unsupported(`its columns need more than ${this.#maxBytes} bytes of memory`);
    }
    this.#held += after - before;
    return after;
  }
}
