import {
  type DecodedArray,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  readOffsetIndex,
  type SchemaTree,
} from 'hyparquet';
import { assembleNested } from 'hyparquet/src/assemble.js';
import { parquetHeader } from 'hyparquet/src/column.js';
import type { Compressors, PageHeader } from 'hyparquet/src/types.js';
import { createPageCodecs } from '#platform';
import { RAW_PARSERS } from './cell.ts';
import { HubError, shorten } from './errors.ts';
import type { Features } from './features.ts';
import { inflateHadoopLz4, inflateLz4Block } from './lz4-block.ts';
import { featuresFromParquet, rawMetadata } from './parquet-features.ts';
import {
  type ColumnValues,
  decodeDataPage,
  decodeDictionary,
  type LeafShape,
  leafShape,
  type ValueDecoder,
} from './parquet-page.ts';
import { TextSlices } from './text-slices.ts';

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
/** Statistics in a page's header may repeat whole values. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** A few bytes can stand for any number of equal values; these still fit into memory, one page of each leaf. */
const MAX_PAGE_VALUES = 2 ** 24;
const MAX_VALUES_AT_ONCE = 2 ** 27;

/** What decompresses the pages of one file. */
export interface PageInflaters {
  readonly compressors: Compressors;
  /** Whether all of this memory is one page that was decompressed, so that it can be given back with the page. */
  isPage(memory: ArrayBufferLike): boolean;
}

export function createPageInflaters(): PageInflaters {
  const codecs: Compressors = { ...createPageCodecs(), LZ4_RAW: inflateLz4Block, LZ4: inflateHadoopLz4 };
  const pages = new WeakSet<ArrayBufferLike>();
  const compressors = Object.entries(codecs).map(([codec, inflate]) => [
    codec,
    (input: Uint8Array, outputLength: number): Uint8Array => {
      const page = inflate(input, outputLength);
      // Node puts small buffers into one that they share.
      if (page.byteLength === page.buffer.byteLength) pages.add(page.buffer);
      return page;
    },
  ]);
  return { compressors: Object.fromEntries(compressors), isPage: (memory) => pages.has(memory) };
}

/** What decoding needs and nobody else looks at. */
interface Internals {
  metadata: FileMetaData;
  leaves: readonly LeafShape[];
  roots: readonly SchemaTree[];
}

const internals = new WeakMap<ParquetFooter, Internals>();

/**
 * How many bytes the footer has, its tail included, by the last bytes of the file.
 *
 * @throws HubError `hub_bad_response` where this is no Parquet file
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
 * @throws HubError `hub_bad_response` where it is damaged
 */
export function parseFooter(bytes: Uint8Array, file: string, byteLength: number): ParquetFooter {
  return guarded(file, () => {
    const found = parquetMetadata(bytes, { geoparquet: false });
    const metadata = rawMetadata(found);
    const root = parquetSchema(metadata);
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
      const chunks = group.columns.map((column) => readChunk(column, file, byteLength));
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

function collectLeaves(node: SchemaTree, path: SchemaTree[], leaves: LeafShape[], file: string): void {
  // Struct members become members of plain objects, where this name means something else.
  if (path.length > 2 && node.element.name === '__proto__')
    throw unsupported(file, 'a member is named __proto__');
  if (node.children.length === 0) {
    // A group without members has no values to tell its rows by.
    if (node.element.type === undefined)
      throw unsupported(file, `column ${shorten(node.element.name)} is an empty group`);
    leaves.push(leafShape(path));
    return;
  }
  for (const child of node.children) collectLeaves(child, [...path, child], leaves, file);
}

function readChunk(
  column: FileMetaData['row_groups'][number]['columns'][number],
  file: string,
  byteLength: number,
): ParquetChunk {
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
    if (at + column.offset_index_length <= byteLength) {
      offsetIndex = { start: at, end: at + column.offset_index_length };
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
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    pages = readOffsetIndex({ view, offset: 0 }).page_locations.map((page) => {
      const start = Number(page.offset);
      return { start, end: start + page.compressed_page_size, firstRow: Number(page.first_row_index) };
    });
  } catch {
    return null;
  }
  const ordered = pages.every((page, index) => {
    const before = pages[index - 1];
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
  /** Takes one whole page, its header included. */
  page(bytes: Uint8Array): void;
  /** Rows that are decoded and not taken yet and lie side by side. */
  readonly ready: number;
  /** The next rows; at most `ready`. */
  take(count: number): ColumnValues;
  /** Says that no page follows, which completes the last row. */
  finish(): void;
  /** Gives back the memory of texts, all of which have been taken: they can no longer be read. */
  release(): void;
}

/**
 * @param textSlices whether texts come as the bytes that they are in the file, not even looked at
 * @throws HubError `hub_bad_response` or `hub_unsupported_dataset` from its methods
 */
export function decodeChunk(
  footer: ParquetFooter,
  group: number,
  leaf: number,
  file: string,
  inflaters: PageInflaters,
  textSlices = false,
): ChunkDecoder {
  const { metadata, leaves } = internals.get(footer)!;
  const shape = leaves[leaf]!;
  const { path, maxRepetition } = shape;
  const maxValues = Math.min(MAX_PAGE_VALUES, MAX_VALUES_AT_ONCE / leaves.length);
  const meta = metadata.row_groups[group]!.columns[leaf]!.meta_data!;
  const element = path.at(-1)!.element;
  const decoder: ValueDecoder = {
    pathInSchema: path.slice(1).map((node) => node.element.name),
    type: meta.type,
    element,
    schemaPath: path,
    codec: meta.codec,
    parsers: textSlices ? BYTES_PARSERS : PARSERS,
    textSlices,
    compressors: inflaters.compressors,
    utf8: false,
  };
  let valuesLeft = Number(meta.num_values);
  let dictionary: ColumnValues | undefined;
  let rows: ColumnValues = [];
  let taken = 0;
  /** The page in which the texts of `rows` stand, where it has memory of its own that nothing else is read from. */
  let pageOfRows: ArrayBuffer | null = null;
  /** The last row of a nested page may go on in the next one. */
  let open: unknown[] = [];

  const headerOf = (bytes: Uint8Array): { header: PageHeader; headerBytes: number } => {
    const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
    return { header: parquetHeader(reader), headerBytes: reader.offset };
  };

  const pageOf = (values: ColumnValues): ArrayBuffer | null => {
    if (!(values instanceof TextSlices)) return null;
    const { buffer } = values.bytes;
    const isDictionary = dictionary instanceof TextSlices && dictionary.bytes.buffer === buffer;
    return isDictionary || !inflaters.isPage(buffer) ? null : (buffer as ArrayBuffer);
  };

  return {
    head(bytes) {
      let parsed: ReturnType<typeof headerOf>;
      try {
        parsed = headerOf(bytes);
      } catch (error) {
        // Most likely it reaches beyond the bytes that are here so far.
        if (bytes.length < MAX_HEADER_BYTES) return null;
        throw damaged(file, 'a page has no header', error);
      }
      const { header, headerBytes } = parsed;
      const bodyBytes = header.compressed_page_size;
      const data = header.data_page_header ?? header.data_page_header_v2;
      const values = data?.num_values ?? 0;
      if (!(bodyBytes >= 0) || !(header.uncompressed_page_size >= 0))
        throw damaged(file, 'a page has no size');
      if (header.uncompressed_page_size > MAX_PAGE_BYTES || values > maxValues) {
        throw unsupported(file, 'a page is too large');
      }
      if (values < 0 || values > valuesLeft) throw damaged(file, 'a page holds more values than its column');
      const kind = header.type === 'DICTIONARY_PAGE' ? 'dictionary' : data === undefined ? 'other' : 'data';
      const rows = maxRepetition === 0 ? values : null;
      return { headerBytes, bodyBytes, kind, rows };
    },
    page(bytes) {
      guarded(file, () => {
        const { header, headerBytes } = headerOf(bytes);
        const body = bytes.subarray(headerBytes);
        if (header.type === 'DICTIONARY_PAGE') {
          dictionary = decodeDictionary(body, header, decoder);
          return;
        }
        const data = header.data_page_header ?? header.data_page_header_v2;
        if (data === undefined || data.num_values === 0) return;
        valuesLeft -= data.num_values;
        let decoded = decodeDataPage(body, header, decoder, shape, dictionary, open);
        if (maxRepetition > 0) {
          const listed = decoded as unknown[];
          open = listed.splice(-1);
          decoded = listed;
        }
        if (this.ready > 0) {
          rows = [...listOf(this.take(this.ready)), ...listOf(decoded)];
          pageOfRows = null;
        } else {
          this.release();
          rows = decoded;
          pageOfRows = pageOf(decoded);
        }
        taken = 0;
      });
    },
    get ready() {
      return rows.length - taken;
    },
    take(count) {
      const from = taken;
      taken += count;
      return Array.isArray(rows) ? rows.slice(from, taken) : rows.subarray(from, taken);
    },
    finish() {
      if (open.length === 0) return;
      rows = Array.from(listOf(rows)).slice(taken).concat(open);
      taken = 0;
      open = [];
    },
    release() {
      pageOfRows?.transfer(0);
      pageOfRows = null;
    },
  };
}

function listOf(values: ColumnValues): DecodedArray {
  return values instanceof TextSlices ? values.toArray() : values;
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
  return guarded(file, () => {
    const values = new Map<string, DecodedArray>();
    let index = 0;
    const spread = (node: SchemaTree): void => {
      if (node.children.length > 0) node.children.forEach(spread);
      else values.set(node.path.join('.'), listOf(leafValues[index++]!));
    };
    spread(root);
    assembleNested(values, root, PARSERS);
    return values.get(root.path.join('.'))!;
  });
}

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PARSERS = {
  ...RAW_PARSERS,
  // Called for every text of every row: one decoder serves all of them.
  stringFromBytes: (bytes: Uint8Array): string => text.decode(bytes),
};

const BYTES_PARSERS = { ...PARSERS, stringFromBytes: (bytes: Uint8Array): unknown => bytes };

/** A text that came as bytes. @throws HubError `hub_bad_response` */
export function textOf(bytes: Uint8Array, file: string): string {
  return guarded(file, () => text.decode(bytes));
}

function toCount(value: bigint | number, file: string): number {
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 0) throw damaged(file, 'its footer holds impossible numbers');
  return count;
}

/** What the library throws about a file becomes an error of the file. */
function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof HubError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (/unsupported|not supported|encrypt/i.test(reason)) throw unsupported(file, reason, error);
    throw damaged(file, reason, error);
  }
}

function damaged(file: string, reason: string, cause?: unknown): HubError {
  return new HubError('hub_bad_response', `Not a readable Parquet file: ${reason.slice(0, 200)}`, {
    place: { file },
    cause,
  });
}

function unsupported(file: string, reason: string, cause?: unknown): HubError {
  return new HubError('hub_unsupported_dataset', `This Parquet file is not read: ${reason.slice(0, 200)}`, {
    place: { file },
    cause,
  });
}
