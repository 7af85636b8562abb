import { checkColumnCount, shorten } from '../../errors.ts';
import type { Features } from '../../schema/features.ts';
import type { ByteInterval } from '../../source/byte-source.ts';
import { createYielder } from '../../source/turns.ts';
import { damaged, damagedFile, toTableError, unsupportedFile } from '../parquet-error.ts';
import { featuresFromParquet } from './features-from-parquet.ts';
import {
  type ColumnChunkMetadata,
  type ColumnMetadata,
  type FileMetadata,
  parseFileMetadata,
} from './file-metadata.ts';
import { maxDefinitionLevel, maxRepetitionLevel, type SchemaTree, schemaTree } from './schema.ts';

/** One leaf column of one row group. */
export interface ParquetChunk extends ByteInterval {
  /** Length of the bytes before the first data page, the dictionary, as far as the footer tells. */
  readonly dictionaryBytes: number;
  readonly uncompressedBytes: number;
  /** Bytes at the end that may belong to the next part. */
  readonly slackBytes: number;
  /** Where the page index says which page has which rows. */
  readonly offsetIndex: ByteInterval | null;
  readonly metadata: Omit<ColumnMetadata, 'path_in_schema'>;
}

interface ParquetRowGroup {
  /** Index of the group's first row in the file. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** One for each leaf, in the schema's order. */
  readonly chunks: readonly ParquetChunk[];
}

/** A column of the table; nested ones are stored as several leaves. */
interface ParquetColumn {
  readonly name: string;
  /** Indexes of its leaves. */
  readonly leaves: readonly number[];
  /** Its part of the schema, in which every node has a path of one unique name. */
  readonly root: SchemaTree;
}

/** The path of a leaf from the root of the schema to its values. */
export interface LeafShape {
  readonly path: readonly SchemaTree[];
  readonly maxRepetition: number;
  readonly maxDefinition: number;
}

/** What the end of a Parquet file says about it. */
export interface ParquetFooter {
  readonly rowCount: number;
  readonly groups: readonly ParquetRowGroup[];
  readonly columns: readonly ParquetColumn[];
  readonly leaves: readonly LeafShape[];
  readonly features: Features;
}

/** Length of the metadata and the magic number that end every file. */
export const FOOTER_TAIL_BYTES = 8;
/** Footers of files with a hundred thousand column chunks fit. */
const MAX_FOOTER_BYTES = 16 * 1024 * 1024;
/** Writers whose chunks may be longer than they state, because they left out the dictionary's header: parquet-mr up to 1.2.8. */
const SHORT_CHUNK_WRITERS = /^parquet-mr(?:$| version (?:0|1\.[01]|1\.2\.[0-8])(?![0-9]))/;
/** More than the header of any dictionary. */
const SLACK_BYTES = 100;
/** A usual page index takes some kilobytes; without one, a reader does as well. */
const MAX_OFFSET_INDEX_BYTES = 8 * 1024 * 1024;

/**
 * The length of the footer, its tail included, by the last bytes of the file.
 *
 * @throws TableError `damaged_file` if this is not a Parquet file, `unsupported_file` if it is encrypted
 */
export function footerLength(tail: Uint8Array, file: string, byteLength: number): number {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  const magic = tail.length < FOOTER_TAIL_BYTES ? 0 : view.getUint32(tail.length - 4, true);
  // "PARE" instead of "PAR1" marks an encrypted footer.
  if (magic === 0x45524150) throw unsupportedFile(file, 'it is encrypted');
  if (magic !== 0x31524150) throw damagedFile(file, 'it does not end with PAR1');
  const length = view.getUint32(tail.length - FOOTER_TAIL_BYTES, true) + FOOTER_TAIL_BYTES;
  if (length > byteLength) throw damagedFile(file, 'its footer is longer than the file');
  if (length > MAX_FOOTER_BYTES) throw unsupportedFile(file, `its footer has ${length} bytes`);
  return length;
}

/**
 * Parses the footer of a Parquet file (Parquet format, "File format"). The event loop runs between its parts: a footer of
 * 16,000 columns or 50,000 row groups takes some 100 ms.
 *
 * @param bytes the end of the file, at least the whole footer
 * @throws TableError `damaged_file`, `unsupported_file`
 */
export async function parseFooter(
  bytes: Uint8Array,
  file: string,
  byteLength: number,
): Promise<ParquetFooter> {
  const nextTurn = createYielder();
  try {
    const end = bytes.length - FOOTER_TAIL_BYTES;
    const length = footerLength(bytes.subarray(end), file, byteLength) - FOOTER_TAIL_BYTES;
    const metadata = parseFileMetadata(bytes.subarray(end - length, end));
    await nextTurn();
    checkColumnCount(metadata.schema.filter(({ num_children = 0 }) => num_children === 0).length);
    const root = schemaTree(metadata.schema);
    const leaves: LeafShape[] = [];
    checkNames(root, file);
    await nextTurn();
    const columns = root.children.map((node): ParquetColumn => {
      const first = leaves.length;
      collectLeaves(node, [root, node], leaves, file);
      const own = Array.from({ length: leaves.length - first }, (_, index) => first + index);
      return { name: node.element.name, leaves: own, root: withUniquePaths(node) };
    });
    const groups: ParquetRowGroup[] = [];
    let rowCount = 0;
    for (const group of readGroups(metadata, leaves, file, byteLength)) {
      groups.push(group);
      rowCount += group.rowCount;
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
    return { rowCount, groups, columns, leaves, features: featuresFromParquet(metadata) };
  } catch (error) {
    throw toTableError(error, file, () => '');
  }
}

/** Names may contain dots, and the assembly joins names by dots: each node gets a path of one unique name. */
function withUniquePaths(root: SchemaTree): SchemaTree {
  let id = 0;
  const rename = (node: SchemaTree): SchemaTree => {
    id += 1;
    return { ...node, path: [String(id)], children: node.children.map(rename) };
  };
  return rename(root);
}

function* readGroups(
  metadata: FileMetadata,
  leaves: readonly LeafShape[],
  file: string,
  byteLength: number,
): Generator<ParquetRowGroup, void, undefined> {
  let firstRow = 0;
  const slackBytes = SHORT_CHUNK_WRITERS.test(metadata.created_by ?? '') ? SLACK_BYTES : 0;
  for (const group of metadata.row_groups) {
    if (group.columns.length !== leaves.length) throw damagedFile(file, 'its footer contradicts itself');
    const rowCount = toCount(group.num_rows, file);
    const chunks = leaves.map((leaf, index) => {
      const column = group.columns[index];
      if (column === undefined) throw damagedFile(file, 'its footer contradicts itself');
      return readChunk(column, leaf, file, { byteLength, slackBytes });
    });
    const row = firstRow;
    firstRow += rowCount;
    yield { firstRow: row, rowCount, chunks };
  }
}

/** The name of a leaf, with the names of the groups around it. */
export function nameOf({ path }: LeafShape): string {
  return path
    .slice(1)
    .map(({ element }) => element.name)
    .join('.');
}

/** Whether the names belong to a leaf and the groups around it. */
function isPathOf(names: readonly string[], { path }: LeafShape): boolean {
  return (
    names.length === path.length - 1 && names.every((name, index) => name === path[index + 1]?.element.name)
  );
}

/** Refuses two columns or members of one name: a row would lose one of them. */
function checkNames({ children }: SchemaTree, file: string): void {
  const names = children.map(({ element }) => element.name).sort();
  const repeated = names.find((name, index) => name === names[index + 1]);
  if (repeated !== undefined) {
    throw unsupportedFile(file, `two of its columns are named ${shorten(repeated)}`);
  }
}

function collectLeaves(
  node: SchemaTree,
  path: readonly SchemaTree[],
  leaves: LeafShape[],
  file: string,
): void {
  // Struct members become members of plain objects, in which this name means something else.
  if (path.length > 2 && node.element.name === '__proto__') {
    throw unsupportedFile(file, 'a member is named __proto__');
  }
  checkNames(node, file);
  if (node.children.length === 0) {
    // A group without members has no values that show its rows.
    if (node.element.type === undefined) {
      throw unsupportedFile(file, `column ${shorten(node.element.name)} is an empty group`);
    }
    leaves.push({ path, maxRepetition: maxRepetitionLevel(path), maxDefinition: maxDefinitionLevel(path) });
    return;
  }
  for (const child of node.children) collectLeaves(child, [...path, child], leaves, file);
}

function readChunk(
  column: ColumnChunkMetadata,
  leaf: LeafShape,
  file: string,
  { byteLength, slackBytes }: { byteLength: number; slackBytes: number },
): ParquetChunk {
  if (column.crypto_metadata !== undefined || column.meta_data === undefined) {
    throw unsupportedFile(file, 'it is encrypted');
  }
  // Names of all columns in all row groups are long.
  const { path_in_schema: path, ...metadata } = column.meta_data;
  const type = leaf.path.at(-1)?.element.type;
  if (metadata.type !== type) {
    throw damaged(`column ${shorten(nameOf(leaf))} is of ${type} and has chunks of ${metadata.type}`);
  }
  if (path !== undefined && !isPathOf(path, leaf)) {
    throw damaged(`column ${shorten(nameOf(leaf))} has a chunk of ${shorten(path.join('.'))}`);
  }
  if (column.file_path) throw unsupportedFile(file, 'its columns are in other files');
  const data = toCount(metadata.data_page_offset, file);
  const dictionary = metadata.dictionary_page_offset ? toCount(metadata.dictionary_page_offset, file) : data;
  const start = Math.min(dictionary, data);
  const end = start + toCount(metadata.total_compressed_size, file);
  if (end > byteLength) throw damagedFile(file, 'a column reaches beyond its end');
  toCount(metadata.num_values, file);
  const slack = Math.min(slackBytes, byteLength - end);
  return {
    start,
    end: end + slack,
    slackBytes: slack,
    dictionaryBytes: data - start,
    uncompressedBytes: toCount(metadata.total_uncompressed_size, file),
    offsetIndex: offsetIndexOf(column, file, byteLength),
    metadata,
  };
}

function offsetIndexOf(column: ColumnChunkMetadata, file: string, byteLength: number): ByteInterval | null {
  if (!column.offset_index_offset || !column.offset_index_length) return null;
  const start = toCount(column.offset_index_offset, file);
  const length = toCount(column.offset_index_length, file);
  const isUsable = start + length <= byteLength && length <= MAX_OFFSET_INDEX_BYTES;
  return isUsable ? { start, end: start + length } : null;
}

function toCount(count: number, file: string): number {
  if (!Number.isSafeInteger(count) || count < 0) {
    throw damagedFile(file, 'its footer has impossible numbers');
  }
  return count;
}
