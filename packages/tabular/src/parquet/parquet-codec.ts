import { shorten, TableError } from '../errors.ts';
import type { Features } from '../schema/features.ts';
import { assembleNested } from './assemble.ts';
import { createPageInflater, type PageInflater } from './codecs/inflate-page.ts';
import { type CellValues, compileConverter, decodeText } from './convert.ts';
import { DataPage, type LeafColumn, openDataPage } from './data-page.ts';
import { type Dictionary, decodeDictionary } from './encodings/dictionary.ts';
import { StringColumn } from './encodings/string-column.ts';
import { MemoryBudget } from './memory-budget.ts';
import { ByteCursor } from './metadata/byte-cursor.ts';
import {
  type ColumnChunkMetadata,
  type FileMetadata,
  parseFileMetadata,
  parsePageLocations,
} from './metadata/file-metadata.ts';
import { type PageHeader, readPageHeader } from './metadata/page-header.ts';
import { maxDefinitionLevel, maxRepetitionLevel, type SchemaTree, schemaTree } from './metadata/schema.ts';
import {
  damaged as damagedBytes,
  EndOfBytesError,
  ParquetError,
  unsupported as unsupportedBytes,
} from './parquet-error.ts';
import { featuresFromParquet, rawMetadata } from './parquet-features.ts';

/** Bytes from `start` to `end` (exclusive) of a file. */
export interface ByteInterval {
  start: number;
  end: number;
}

/** One leaf column of one row group. */
export interface ParquetChunk extends ByteInterval {
  /** Length of what stands before the first data page, as far as the footer tells: the dictionary. */
  dictionaryBytes: number;
  uncompressedBytes: number;
  /** Values, nulls and repetitions included. */
  values: number;
  /** Where the page index says which page holds which rows. */
  offsetIndex: ByteInterval | null;
}

interface ParquetRowGroup {
  /** Index of the group's first row in the file. */
  firstRow: number;
  rowCount: number;
  /** One for each leaf, in the schema's order. */
  chunks: readonly ParquetChunk[];
}

/** A column of the table; nested ones are stored as several leaves. */
interface ParquetColumn {
  name: string;
  leaves: readonly number[];
}

/** What the end of a Parquet file tells about it. */
export interface ParquetFooter {
  rowCount: number;
  groups: readonly ParquetRowGroup[];
  columns: readonly ParquetColumn[];
  features: Features;
}

/** A page of a leaf, by the page index. `firstRow` counts from the beginning of the row group. */
export interface PageLocation extends ByteInterval {
  firstRow: number;
}

/** The beginning of a page. */
interface PageHead {
  headerBytes: number;
  bodyBytes: number;
  kind: 'dictionary' | 'data' | 'other';
  /** Rows that begin in the page, where that is known without decoding it. */
  rows: number | null;
}

/** Length of the metadata and the magic number that end every file. */
export const FOOTER_TAIL_BYTES = 8;
/** Footers of files with a hundred thousand column chunks fit. */
const MAX_FOOTER_BYTES = 16 * 1024 * 1024;
/** Pages are meant to have 1 MB; this is what one may inflate to. */
const MAX_PAGE_BYTES = 512 * 1024 * 1024;
/** What does not shrink grows by a sixth at most, in any compression. */
const MAX_GROWTH = 1.25;
/** Beside that, frames have headers of some bytes. */
const GROWTH_SLACK_BYTES = 64 * 1024;
/** Statistics in a page's header may repeat whole values. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** A usual page index takes some kilobytes; without one, a reader does as well. */
const MAX_OFFSET_INDEX_BYTES = 8 * 1024 * 1024;
/** Entries of a page that are decoded at once; few bytes may stand for any number of them. */
const MAX_ENTRIES_AT_ONCE = 8192;
/** The same of all columns together. */
const MAX_ENTRIES_OF_ALL = 2 ** 22;
/** Memory that an entry of an unfinished row takes, about, for each level of nesting. */
const BYTES_PER_ENTRY = 48;

/** What the decoding of one file shares among its columns. */
export interface ParquetDecoding {
  inflater: PageInflater;
  budget: MemoryBudget;
}

export function createParquetDecoding(): ParquetDecoding {
  return { inflater: createPageInflater(), budget: new MemoryBudget() };
}

/** Values of one column, one to a row. */
export type ColumnValues = CellValues;

/** What decoding needs and nobody else looks at. */
interface Internals {
  metadata: FileMetadata;
  leaves: readonly LeafShape[];
  roots: readonly SchemaTree[];
}

/** A leaf's way from the root of the schema to its values. */
interface LeafShape {
  path: readonly SchemaTree[];
  maxRepetition: number;
  maxDefinition: number;
}

const internals = new WeakMap<ParquetFooter, Internals>();

/**
 * How many bytes the footer has, its tail included, by the last bytes of the file.
 *
 * @throws TableError `damaged_file` where this is no Parquet file
 */
export function footerLength(tail: Uint8Array, file: string, byteLength: number): number {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  const magic = tail.length < FOOTER_TAIL_BYTES ? 0 : view.getUint32(tail.length - 4, true);
  // "PARE" instead of "PAR1" marks an encrypted footer.
  if (magic === 0x45524150) throw unsupported(file, 'it is encrypted');
  if (magic !== 0x31524150) throw damaged(file, 'it does not end like one');
  const length = view.getUint32(tail.length - FOOTER_TAIL_BYTES, true) + FOOTER_TAIL_BYTES;
  if (length > byteLength) throw damaged(file, 'its footer is longer than the file');
  if (length > MAX_FOOTER_BYTES) throw unsupported(file, `its footer has ${length} bytes`);
  return length;
}

/**
 * Reads the footer of a Parquet file (Parquet format, "File format").
 *
 * @param bytes the end of the file, the whole footer at least
 * @throws TableError `damaged_file` where it is damaged
 */
export function parseFooter(bytes: Uint8Array, file: string, byteLength: number): ParquetFooter {
  return guarded(file, () => {
    const tail = bytes.subarray(0, bytes.length - FOOTER_TAIL_BYTES);
    const length = footerLength(bytes.subarray(-FOOTER_TAIL_BYTES), file, byteLength) - FOOTER_TAIL_BYTES;
    const found = parseFileMetadata(tail.subarray(tail.length - length));
    const metadata = rawMetadata(found);
    const root = schemaTree(metadata.schema);
    const leaves: LeafShape[] = [];
    const columns = root.children.map((node): ParquetColumn => {
      const first = leaves.length;
      collectLeaves(node, [root, node], leaves, file);
      const own = Array.from({ length: leaves.length - first }, (_, index) => first + index);
      return { name: node.element.name, leaves: own };
    });
    let firstRow = 0;
    const groups = metadata.row_groups.map((group): ParquetRowGroup => {
      if (group.columns.length !== leaves.length) throw damaged(file, 'its footer contradicts itself');
      const rowCount = toCount(group.num_rows, file);
      const chunks = group.columns.map((column, leaf) => {
        const type = leaves[leaf]!.path.at(-1)!.element.type;
        if (column.meta_data !== undefined && column.meta_data.type !== type)
          throw damagedBytes(
            `column ${shorten(nameOf(leaves[leaf]!))} is of ${type} and has chunks of ${column.meta_data.type}`,
          );
        return readChunk(column, file, byteLength);
      });
      const row = firstRow;
      firstRow += rowCount;
      return { firstRow: row, rowCount, chunks };
    });
    const footer: ParquetFooter = {
      rowCount: firstRow,
      groups,
      columns,
      features: featuresFromParquet(found),
    };
    // Every node gets a path of its own: names may hold dots, and the assembly joins names by dots.
    let id = 0;
    const roots = root.children.map(function number(node): SchemaTree {
      id++;
      return { ...node, path: [String(id)], children: node.children.map(number) };
    });
    internals.set(footer, { metadata, leaves, roots });
    return footer;
  });
}

function nameOf({ path }: LeafShape): string {
  return path
    .slice(1)
    .map(({ element }) => element.name)
    .join('.');
}

function collectLeaves(
  node: SchemaTree,
  path: readonly SchemaTree[],
  leaves: LeafShape[],
  file: string,
): void {
  // Struct members become members of plain objects, where this name means something else.
  if (path.length > 2 && node.element.name === '__proto__')
    throw unsupported(file, 'a member is named __proto__');
  if (node.children.length === 0) {
    // A group without members has no values to tell its rows by.
    if (node.element.type === undefined)
      throw unsupported(file, `column ${shorten(node.element.name)} is an empty group`);
    leaves.push({ path, maxRepetition: maxRepetitionLevel(path), maxDefinition: maxDefinitionLevel(path) });
    return;
  }
  for (const child of node.children) collectLeaves(child, [...path, child], leaves, file);
}

function readChunk(column: ColumnChunkMetadata, file: string, byteLength: number): ParquetChunk {
  const meta = column.meta_data;
  if (column.crypto_metadata !== undefined || meta === undefined) throw unsupported(file, 'it is encrypted');
  if (column.file_path) throw unsupported(file, 'its columns are in other files');
  const data = toCount(meta.data_page_offset, file);
  const dictionary = meta.dictionary_page_offset ? toCount(meta.dictionary_page_offset, file) : data;
  const start = Math.min(dictionary, data);
  const end = start + toCount(meta.total_compressed_size, file);
  if (end > byteLength) throw damaged(file, 'a column reaches beyond its end');
  let offsetIndex: ByteInterval | null = null;
  if (column.offset_index_offset && column.offset_index_length) {
    const at = toCount(column.offset_index_offset, file);
    const length = toCount(column.offset_index_length, file);
    if (at + length <= byteLength && length <= MAX_OFFSET_INDEX_BYTES) {
      offsetIndex = { start: at, end: at + length };
    }
  }
  return {
    start,
    end,
    dictionaryBytes: data - start,
    uncompressedBytes: toCount(meta.total_uncompressed_size, file),
    values: toCount(meta.num_values, file),
    offsetIndex,
  };
}

/** Reads the page index of one chunk (Parquet format, "Page Index"); null where it does not fit the chunk. */
export function parseOffsetIndex(
  bytes: Uint8Array,
  chunk: ParquetChunk,
  rowCount: number,
): PageLocation[] | null {
  let pages: PageLocation[];
  try {
    pages = parsePageLocations(bytes).map((page) => {
      const start = page.offset;
      return { start, end: start + page.compressed_page_size, firstRow: page.first_row_index };
    });
  } catch (error) {
    if (error instanceof ParquetError) return null;
    throw error;
  }
  const ordered = pages.every((page, index) => {
    const before = pages[index - 1];
    if (!(Number.isSafeInteger(page.end) && page.end > page.start)) return false;
    return before === undefined
      ? page.firstRow === 0 && page.start >= chunk.start
      : page.start >= before.end && page.firstRow > before.firstRow;
  });
  const last = pages.at(-1);
  return last !== undefined && ordered && last.end <= chunk.end && last.firstRow < rowCount ? pages : null;
}

/** Decodes the pages of one chunk, one after another. */
export interface ChunkDecoder {
  /** The head of the page at the beginning of `bytes`; null where more bytes are needed to read it. */
  head(bytes: Uint8Array): PageHead | null;
  /** Takes one whole page, its header included, and gives up what is left of the page before. */
  page(bytes: Uint8Array): Promise<void>;
  /** Decodes the next rows of the page, where there are any and none are ready. */
  decode(): void;
  /** Rows that are decoded and not taken yet and lie side by side. */
  readonly ready: number;
  /** Whether rows of the page are still to be decoded. */
  readonly hasMore: boolean;
  /** The next rows; at most `ready`. */
  take(count: number): ColumnValues;
  /** Says that no page follows, which completes the last row. */
  finish(): void;
  /** Gives back the memory of texts, all of which have been taken: they can no longer be read. */
  release(): void;
}

/**
 * @param textSlices whether texts come as the bytes that they are in the file, not even looked at
 * @throws TableError `damaged_file` or `unsupported_file` from its methods
 */
export function decodeChunk(
  footer: ParquetFooter,
  group: number,
  leaf: number,
  file: string,
  { inflater, budget }: ParquetDecoding,
  textSlices = false,
): ChunkDecoder {
  const { metadata, leaves } = internals.get(footer)!;
  const shape = leaves[leaf]!;
  const maxEntries = Math.max(
    1,
    Math.min(MAX_ENTRIES_AT_ONCE, Math.floor(MAX_ENTRIES_OF_ALL / leaves.length)),
  );
  const meta = metadata.row_groups[group]!.columns[leaf]!.meta_data!;
  const { element } = shape.path.at(-1)!;
  const column: LeafColumn = {
    ...shape,
    type: meta.type,
    typeLength: element.type_length,
    codec: meta.codec,
    textSlices,
    convert: guarded(file, () => compileConverter(shape.path, { textsAsBytes: textSlices })),
  };
  const name = nameOf(shape);
  let pageNumber = -1;
  /** Runs a step; what goes wrong is told with the place in the file. */
  const step = <T>(work: () => T): T =>
    guarded(
      file,
      work,
      () => `column ${shorten(name)}, row group ${group}, page ${Math.max(pageNumber, 0)}: `,
    );

  let valuesLeft = meta.num_values;
  let dictionary: Dictionary | undefined;
  let page: DataPage | undefined;
  let rows: ColumnValues = [];
  let taken = 0;
  /** The last row of a nested page may go on in the next one. */
  let open: unknown[] = [];
  let openEntries = 0;
  let heldByPage = 0;
  let heldByDictionary = 0;
  let heldByRow = 0;

  const checkedHead = (bytes: Uint8Array): PageHead & { header: PageHeader } => {
    const cursor = new ByteCursor(bytes);
    const header = readPageHeader(cursor);
    return { ...pageHead(header, cursor.offset, shape.maxRepetition), header };
  };
  const releaseMemory = (): void => {
    if (page === undefined) return;
    const { memory } = page;
    page = undefined;
    heldByPage = budget.change(heldByPage, 0);
    const isDictionary = dictionary instanceof StringColumn && dictionary.bytes.buffer === memory;
    // Whatever is no text may still be used: numbers and bytes may stand in this memory.
    if (textSlices && !isDictionary && inflater.isPage(memory)) (memory as ArrayBuffer).transfer(0);
  };

  return {
    head(bytes) {
      return step(() => {
        try {
          return checkedHead(bytes);
        } catch (error) {
          if (error instanceof EndOfBytesError && bytes.length < MAX_HEADER_BYTES) return null;
          throw error;
        }
      });
    },
    async page(bytes) {
      pageNumber++;
      releaseMemory();
      const { header, headerBytes, kind } = step(() => checkedHead(bytes));
      const body = bytes.subarray(headerBytes);
      const size = header.uncompressed_page_size!;
      if (kind === 'dictionary') {
        step(() => {
          heldByDictionary = budget.change(heldByDictionary, size);
        });
        const found = await guardedAsync(step, decodeDictionary(body, header, column, inflater));
        step(() => {
          heldByDictionary = budget.change(heldByDictionary, size + found.overheadBytes);
        });
        dictionary = found.values;
        return;
      }
      if (kind !== 'data') return;
      const { num_values: values = 0 } = (header.data_page_header ?? header.data_page_header_v2)!;
      step(() => {
        if (values > valuesLeft) throw damagedBytes('it holds more values than its column');
        valuesLeft -= values;
        heldByPage = budget.change(0, size);
      });
      const opened = await guardedAsync(step, openDataPage(body, header, column, inflater));
      page = step(() => new DataPage(opened, column, dictionary));
    },
    decode() {
      if (page === undefined || page.left === 0 || rows.length > taken) return;
      const current = page;
      step(() => {
        const entries = Math.min(maxEntries, current.left);
        const decoded = current.next(entries, open);
        taken = 0;
        if (shape.maxRepetition === 0) {
          rows = decoded;
          return;
        }
        const listed = decoded as unknown[];
        openEntries = listed.length > open.length ? entries : openEntries + entries;
        open = listed.splice(-1);
        rows = listed;
        heldByRow = budget.change(heldByRow, openEntries * BYTES_PER_ENTRY * shape.maxDefinition);
      });
    },
    get ready() {
      return rows.length - taken;
    },
    get hasMore() {
      return page !== undefined && page.left > 0;
    },
    take(count) {
      const from = taken;
      taken += count;
      return Array.isArray(rows) ? rows.slice(from, taken) : (rows as StringColumn).subarray(from, taken);
    },
    finish() {
      if (open.length === 0) return;
      rows = open;
      taken = 0;
      open = [];
      heldByRow = budget.change(heldByRow, 0);
    },
    release() {
      releaseMemory();
      heldByDictionary = budget.change(heldByDictionary, 0);
      heldByRow = budget.change(heldByRow, 0);
    },
  };
}

/** What is told of a page by its header, which has been checked. @throws ParquetError */
function pageHead(header: PageHeader, headerBytes: number, maxRepetition: number): PageHead {
  const { compressed_page_size: bodyBytes, uncompressed_page_size: size } = header;
  if (bodyBytes === undefined || bodyBytes < 0 || size === undefined || size < 0)
    throw damagedBytes('a page has no size');
  if (size > MAX_PAGE_BYTES) throw unsupportedBytes(`a page has ${size} bytes`);
  if (bodyBytes > size * MAX_GROWTH + GROWTH_SLACK_BYTES)
    throw damagedBytes(`a page of ${bodyBytes} bytes says it inflates to ${size}`);
  if (header.type === 'DICTIONARY_PAGE') return { headerBytes, bodyBytes, kind: 'dictionary', rows: null };
  const data = header.data_page_header ?? header.data_page_header_v2;
  if (data === undefined) return { headerBytes, bodyBytes, kind: 'other', rows: null };
  const values = data.num_values ?? 0;
  if (values < 0) throw damagedBytes('a page has no number of values');
  return { headerBytes, bodyBytes, kind: 'data', rows: maxRepetition === 0 ? values : null };
}

/** Puts the leaves of a column together: the same rows of each, in the schema's order. */
export function assembleColumn(
  footer: ParquetFooter,
  column: number,
  leafValues: readonly ColumnValues[],
  file: string,
): ColumnValues {
  const { roots } = internals.get(footer)!;
  const root = roots[column]!;
  const [only] = leafValues;
  if (root.children.length === 0) return only!;
  const location = (): string => `column ${shorten(root.element.name)}: `;
  return guarded(
    file,
    () => {
      const values = new Map<string, unknown[]>();
      let index = 0;
      const spread = (node: SchemaTree): void => {
        if (node.children.length > 0) node.children.forEach(spread);
        else values.set(node.path.join('.'), listOf(leafValues[index++]!));
      };
      spread(root);
      assembleNested(values, root);
      return values.get(root.path.join('.'))!;
    },
    location,
  );
}

/** Values of a nested column are only read: typed arrays serve as well as plain ones. */
function listOf(values: ColumnValues): unknown[] {
  return (values instanceof StringColumn ? values.toArray() : values) as unknown[];
}

/** A text that came as bytes. @throws TableError `damaged_file` */
export function textOf(bytes: Uint8Array, file: string): string {
  return guarded(file, () => decodeText(bytes));
}

function toCount(count: number, file: string): number {
  if (!Number.isSafeInteger(count) || count < 0) throw damaged(file, 'its footer holds impossible numbers');
  return count;
}

/** Makes an error of the file of what goes wrong in its bytes. `place` is where in the file. */
function guarded<T>(file: string, work: () => T, location: () => string = () => ''): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TableError) throw error;
    if (!(error instanceof ParquetError)) {
      // The runtime's own words say nothing about a file.
      throw damaged(file, `${location()}its parts contradict each other`, error);
    }
    const reason = location() + error.message;
    throw error.isUnsupported ? unsupported(file, reason, error) : damaged(file, reason, error);
  }
}

async function guardedAsync<T>(step: <R>(work: () => R) => R, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    return step(() => {
      throw error;
    });
  }
}

function damaged(file: string, reason: string, cause?: unknown): TableError {
  return new TableError('damaged_file', `Cannot read the Parquet file: ${reason.slice(0, 300)}`, {
    location: { file },
    cause,
  });
}

function unsupported(file: string, reason: string, cause?: unknown): TableError {
  return new TableError('unsupported_file', `Cannot read the Parquet file: ${reason.slice(0, 300)}`, {
    location: { file },
    cause,
  });
}
