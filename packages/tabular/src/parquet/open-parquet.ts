import { joinBytes } from '@svc/jsonl-v23/bytes';
import { checkColumnCount, shorten } from '../errors.ts';
import type { Features } from '../schema/features.ts';
import { type ByteInterval, type ByteSource, deriveSource } from '../source/byte-source.ts';
import { createYielder } from '../source/turns.ts';
import { featuresFromParquet } from './metadata/features-from-parquet.ts';
import {
  type ColumnChunkMetadata,
  type ColumnMetadata,
  type FileMetadata,
  parseFileMetadata,
} from './metadata/file-metadata.ts';
import { maxDefinitionLevel, maxRepetitionLevel, type SchemaTree, schemaTree } from './metadata/schema.ts';
import { damaged, toTableError, translateErrors, unsupported } from './parquet-error.ts';

export interface ParquetChunk extends ByteInterval {
  /** Length of the bytes before the first data page, the dictionary, as far as the footer tells. */
  readonly dictionaryBytes: number;
  readonly uncompressedBytes: number;
  /** Bytes at the end that may belong to the next part. */
  readonly slackBytes: number;
  readonly offsetIndex: ByteInterval | null;
  readonly metadata: Omit<ColumnMetadata, 'path_in_schema'>;
}

export interface ParquetRowGroup {
  /** Index of the group's first row in the file. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly chunks: readonly ParquetChunk[];
}

/** A column of the table; nested ones are stored as several leaves. */
export interface ParquetColumn {
  readonly name: string;
  readonly leaves: readonly number[];
  readonly root: SchemaTree;
}

export interface LeafShape {
  readonly path: readonly SchemaTree[];
  readonly maxRepetition: number;
  readonly maxDefinition: number;
}

export interface ParquetFile {
  readonly path: string;
  /** The file; bytes that came with the footer are read from memory. */
  readonly bytes: ByteSource;
  readonly rowCount: number;
  readonly groups: readonly ParquetRowGroup[];
  readonly columns: readonly ParquetColumn[];
  readonly leaves: readonly LeafShape[];
  readonly features: Features;
}

/** Fetched with the footer: a thousandth of the file is enough for most footers and page indexes. */
const MIN_TAIL_BYTES = 64 * 1024;
const MAX_TAIL_BYTES = 512 * 1024;
const END_BYTES = 8;
/** Footers of files with a hundred thousand column chunks fit. */
const MAX_FOOTER_BYTES = 16 * 1024 * 1024;
/** Writers whose chunks may be longer than they state, because they left out the dictionary's header: parquet-mr up to 1.2.8. */
const SHORT_CHUNK_WRITERS = /^parquet-mr(?:$| version (?:0|1\.[01]|1\.2\.[0-8])(?![0-9]))/;
/** More than the header of any dictionary. */
const SLACK_BYTES = 100;
/** A usual page index takes some kilobytes; without one, a reader does as well. */
const MAX_OFFSET_INDEX_BYTES = 8 * 1024 * 1024;

/**
 * Opens a Parquet file: one read for its footer, two if that is unusually long.
 * @throws TableError `damaged_file`, or `unsupported_file` if the file is encrypted or its footer too large; errors of the
 *   source
 */
export async function openParquet(file: ByteSource, signal?: AbortSignal): Promise<ParquetFile> {
  const { byteLength, path } = file;
  const guess = Math.min(Math.max(Math.ceil(byteLength / 1000), MIN_TAIL_BYTES), MAX_TAIL_BYTES);
  let start = Math.max(0, byteLength - guess);
  let tail: Uint8Array<ArrayBuffer> = await file.readRange(start, byteLength, signal);
  const length = translateErrors(path, () => footerLength(tail.subarray(-END_BYTES), byteLength));
  if (length > tail.length) {
    tail = joinBytes([await file.readRange(byteLength - length, start, signal), tail]);
    start = byteLength - length;
  }
  const footer = tail.subarray(tail.length - length, tail.length - END_BYTES);
  try {
    return { path, bytes: withTail(file, start, tail), ...(await parseFooter(footer, byteLength)) };
  } catch (error) {
    throw toTableError(error, path);
  }
}

function withTail(file: ByteSource, tailStart: number, tail: Uint8Array<ArrayBuffer>): ByteSource {
  return deriveSource(file, {
    async readRange(start, end, signal) {
      if (start < tailStart) return await file.readRange(start, end, signal);
      // `slice` of a Buffer would share its memory, which readers free.
      return new Uint8Array(tail.subarray(start - tailStart, end - tailStart));
    },
  });
}

/** The length of the footer with what ends the file. @throws ParquetError if this is not a Parquet file, or is encrypted */
function footerLength(end: Uint8Array, byteLength: number): number {
  const view = new DataView(end.buffer, end.byteOffset, end.byteLength);
  const magic = end.length < END_BYTES ? 0 : view.getUint32(END_BYTES - 4, true);
  // "PARE" instead of "PAR1" marks an encrypted footer.
  if (magic === 0x45524150) throw unsupported('it is encrypted');
  if (magic !== 0x31524150) throw damaged('it does not end with PAR1');
  const length = view.getUint32(0, true) + END_BYTES;
  if (length > byteLength) throw damaged('its footer is longer than the file');
  if (length > MAX_FOOTER_BYTES) throw unsupported(`its footer has ${length} bytes`);
  return length;
}

/** The event loop runs between the parts of a footer: one of 16,000 columns or 50,000 row groups takes some 100 ms. */
async function parseFooter(
  bytes: Uint8Array,
  byteLength: number,
): Promise<Omit<ParquetFile, 'path' | 'bytes'>> {
  const nextTurn = createYielder();
  const metadata = parseFileMetadata(bytes);
  await nextTurn();
  checkColumnCount(metadata.schema.filter(({ num_children = 0 }) => num_children === 0).length);
  const root = schemaTree(metadata.schema);
  const leaves: LeafShape[] = [];
  checkNames(root);
  await nextTurn();
  const columns = root.children.map((node): ParquetColumn => {
    const first = leaves.length;
    collectLeaves(node, [root, node], leaves);
    const own = Array.from({ length: leaves.length - first }, (_, index) => first + index);
    return { name: node.element.name, leaves: own, root: node };
  });
  const groups: ParquetRowGroup[] = [];
  let rowCount = 0;
  for (const group of metadata.row_groups) {
    groups.push(readGroup(group, leaves, metadata, { firstRow: rowCount, byteLength }));
    rowCount += group.num_rows;
    const turn = nextTurn();
    if (turn !== undefined) await turn;
  }
  return { rowCount, groups, columns, leaves, features: featuresFromParquet(metadata) };
}

/** Refuses two columns or members of one name: a row would lose one of them. */
function checkNames({ children }: SchemaTree): void {
  const names = children.map(({ element }) => element.name).sort();
  const repeated = names.find((name, index) => name === names[index + 1]);
  if (repeated !== undefined) throw unsupported(`two of its columns are named ${shorten(repeated)}`);
}

function collectLeaves(node: SchemaTree, path: readonly SchemaTree[], leaves: LeafShape[]): void {
  // Struct members become members of plain objects, in which this name means something else.
  if (path.length > 2 && node.element.name === '__proto__') throw unsupported('a member is named __proto__');
  checkNames(node);
  if (node.children.length === 0) {
    // A group without members has no values that show its rows.
    if (node.element.type === undefined) {
      throw unsupported(`column ${shorten(node.element.name)} is an empty group`);
    }
    leaves.push({ path, maxRepetition: maxRepetitionLevel(path), maxDefinition: maxDefinitionLevel(path) });
    return;
  }
  for (const child of node.children) collectLeaves(child, [...path, child], leaves);
}

function readGroup(
  { columns, num_rows: rows }: FileMetadata['row_groups'][number],
  leaves: readonly LeafShape[],
  { created_by: writer = '' }: FileMetadata,
  { firstRow, byteLength }: { firstRow: number; byteLength: number },
): ParquetRowGroup {
  const slackBytes = SHORT_CHUNK_WRITERS.test(writer) ? SLACK_BYTES : 0;
  if (columns.length !== leaves.length) throw damaged('its footer contradicts itself');
  const chunks = columns.map((column, index) =>
    readChunk(column, leaves[index] as LeafShape, byteLength, slackBytes),
  );
  return { firstRow, rowCount: toCount(rows), chunks };
}

function readChunk(
  column: ColumnChunkMetadata,
  leaf: LeafShape,
  byteLength: number,
  slackBytes: number,
): ParquetChunk {
  if (column.crypto_metadata !== undefined || column.meta_data === undefined) {
    throw unsupported('it is encrypted');
  }
  // Names of all columns in all row groups are long.
  const { path_in_schema: path, ...metadata } = column.meta_data;
  const type = leaf.path.at(-1)?.element.type;
  if (metadata.type !== type) {
    throw damaged(`column ${shorten(nameOf(leaf))} is of ${type} and has chunks of ${metadata.type}`);
  }
  const names = namesOf(leaf);
  if (path !== undefined && !(path.length === names.length && path.every((name, at) => name === names[at]))) {
    throw damaged(`column ${shorten(nameOf(leaf))} has a chunk of ${shorten(path.join('.'))}`);
  }
  if (column.file_path) throw unsupported('its columns are in other files');
  const data = toCount(metadata.data_page_offset);
  const dictionary = metadata.dictionary_page_offset ? toCount(metadata.dictionary_page_offset) : data;
  const start = Math.min(dictionary, data);
  const end = start + toCount(metadata.total_compressed_size);
  if (end > byteLength) throw damaged('a column reaches beyond its end');
  toCount(metadata.num_values);
  const slack = Math.min(slackBytes, byteLength - end);
  return {
    start,
    end: end + slack,
    slackBytes: slack,
    dictionaryBytes: data - start,
    uncompressedBytes: toCount(metadata.total_uncompressed_size),
    offsetIndex: offsetIndexOf(column, byteLength),
    metadata,
  };
}

const namesOf = ({ path }: LeafShape): string[] => path.slice(1).map(({ element }) => element.name);

/** The name of a leaf, with the names of the groups around it. */
export const nameOf = (leaf: LeafShape): string => namesOf(leaf).join('.');

function offsetIndexOf(column: ColumnChunkMetadata, byteLength: number): ByteInterval | null {
  if (!column.offset_index_offset || !column.offset_index_length) return null;
  const start = toCount(column.offset_index_offset);
  const length = toCount(column.offset_index_length);
  const isUsable = start + length <= byteLength && length <= MAX_OFFSET_INDEX_BYTES;
  return isUsable ? { start, end: start + length } : null;
}

function toCount(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw damaged('its footer has impossible numbers');
}
