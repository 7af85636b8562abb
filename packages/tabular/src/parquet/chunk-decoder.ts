import { shorten } from '../errors.ts';
import { type CellValues, compileConverter } from './cells/convert.ts';
import { createPageInflater, type PageInflater } from './codecs/inflate-page.ts';
import { DataPage, type LeafColumn, openDataPage } from './data-page.ts';
import { type Dictionary, decodeDictionary } from './encodings/dictionary.ts';
import { StringColumn } from './encodings/string-column.ts';
import { MemoryBudget } from './memory-budget.ts';
import { nameOf, type ParquetFooter } from './metadata/footer.ts';
import { type PageHead, readPageHead } from './metadata/page-head.ts';
import { damaged, EndOfBytesError, toTableError, translateErrors } from './parquet-error.ts';
import { RowBuffer } from './row-buffer.ts';

/** Statistics in a page's header may repeat whole values. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** Entries of a page that are decoded at once; a few bytes may encode any number of them. */
const MAX_ENTRIES_AT_ONCE = 8192;
/** The same of all columns together. */
const MAX_ENTRIES_OF_ALL = 2 ** 22;
/** Memory that an entry of an unfinished row takes, about, for each level of nesting. */
const BYTES_PER_ENTRY = 48;

/** What the decoders of one file share. */
export interface ParquetDecoding {
  readonly inflater: PageInflater;
  readonly budget: MemoryBudget;
}

export function createParquetDecoding(): ParquetDecoding {
  return { inflater: createPageInflater(), budget: new MemoryBudget() };
}

/** One leaf of one row group. */
export interface LeafSelection {
  readonly group: number;
  readonly leaf: number;
  readonly file: string;
  /** Whether texts stay the bytes that they are in the file, unchecked. */
  readonly textSlices: boolean;
}

function openLeaf(
  footer: ParquetFooter,
  { group, leaf, file, textSlices }: LeafSelection,
): { name: string; values: number; column: LeafColumn } {
  const shape = footer.leaves[leaf];
  const chunk = footer.groups[group]?.chunks[leaf];
  const element = shape?.path.at(-1)?.element;
  if (shape === undefined || chunk === undefined || element === undefined) {
    throw new RangeError(`The file has no leaf ${leaf} in row group ${group}.`);
  }
  const { type, codec, num_values: values } = chunk.metadata;
  const convert = translateErrors(file, () => compileConverter(shape.path, { textsAsBytes: textSlices }));
  const column = { ...shape, type, typeLength: element.type_length, codec, textSlices, convert };
  return { name: nameOf(shape), values, column };
}

/** Decodes the pages of one chunk, one after another. Its methods throw `damaged_file` and `unsupported_file`. */
export class ChunkDecoder {
  readonly #file: string;
  readonly #location: { readonly column: string; readonly group: number };
  readonly #column: LeafColumn;
  readonly #decoding: ParquetDecoding;
  readonly #maxEntries: number;
  #pageNumber = -1;
  #valuesLeft: number;
  #dictionary: Dictionary | undefined;
  #page: DataPage | undefined;
  readonly #rows = new RowBuffer();
  readonly #held = { page: 0, dictionary: 0, row: 0 };

  constructor(footer: ParquetFooter, selection: LeafSelection, decoding: ParquetDecoding) {
    const { file, group } = selection;
    const { name, values, column } = openLeaf(footer, selection);
    this.#file = file;
    this.#location = { column: name, group };
    this.#decoding = decoding;
    const share = Math.floor(MAX_ENTRIES_OF_ALL / footer.leaves.length);
    this.#maxEntries = Math.max(1, Math.min(MAX_ENTRIES_AT_ONCE, share));
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

  /** The header of the page at the beginning of `bytes`; null if reading it takes more bytes. */
  head(bytes: Uint8Array): PageHead | null {
    return this.#step(() => {
      try {
        return readPageHead(bytes);
      } catch (error) {
        if (error instanceof EndOfBytesError && bytes.length < MAX_HEADER_BYTES) return null;
        throw error;
      }
    });
  }

  /** Rows that begin in a page, if that is known without decoding it. */
  rowsOf({ kind, valueCount }: PageHead): number | null {
    return kind === 'data' && this.#column.maxRepetition === 0 ? valueCount : null;
  }

  /** Takes one whole page, its header included, and drops the rest of the page before. */
  async page(bytes: Uint8Array): Promise<void> {
    this.#pageNumber += 1;
    this.#releasePage();
    const head = this.#step(() => readPageHead(bytes));
    const body = bytes.subarray(head.headerBytes);
    try {
      if (head.kind === 'dictionary') await this.#readDictionary(head, body);
      else if (head.kind === 'data') await this.#openPage(head, body);
    } catch (error) {
      throw toTableError(error, this.#file, this.#locate);
    }
  }

  /** Decodes the next rows of the page, if there are any and none are ready. */
  decode(): void {
    const page = this.#page;
    if (page === undefined || page.left === 0 || this.ready > 0) return;
    const { maxRepetition, maxDefinition } = this.#column;
    this.#step(() => {
      const entries = Math.min(this.#maxEntries, page.left);
      const decoded = page.next(entries, this.#rows.open);
      if (maxRepetition === 0) this.#rows.set(decoded);
      else {
        const openEntries = this.#rows.setNested(decoded as unknown[], entries);
        this.#hold('row', openEntries * BYTES_PER_ENTRY * maxDefinition);
      }
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

  /** Frees the memory of texts, all of which have been taken: they can no longer be read. */
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
    if (this.#page === undefined) return;
    const { memory } = this.#page;
    this.#page = undefined;
    this.#hold('page', 0);
    const dictionary = this.#dictionary;
    const isDictionary = dictionary instanceof StringColumn && dictionary.bytes.buffer === memory;
    // All but texts may still be in use: numbers and bytes may be views of this memory.
    if (this.#column.textSlices && !isDictionary && this.#decoding.inflater.isPage(memory)) {
      (memory as ArrayBuffer).transfer(0);
    }
  }

  /** Counts what is held for the page, the dictionary or the unfinished row. @throws ParquetError */
  #hold(what: 'page' | 'dictionary' | 'row', bytes: number): void {
    this.#held[what] = this.#decoding.budget.change(this.#held[what], bytes);
  }

  #step<T>(work: () => T): T {
    return translateErrors(this.#file, work, this.#locate);
  }

  readonly #locate = (): string => {
    const { column, group } = this.#location;
    return `column ${shorten(column)}, row group ${group}, page ${Math.max(this.#pageNumber, 0)}: `;
  };
}
