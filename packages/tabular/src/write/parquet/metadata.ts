import { type Leaf, leavesOf, type NamedColumn } from './parquet-column.ts';
import { encodeThrift, type ThriftStruct, type ThriftValue } from './thrift-writer.ts';

/** Numbers of `parquet.thrift`. */
const PHYSICAL = { bool: 0, int64: 2, double: 5, string: 6, json: 6, bytes: 6 } as const;
const CONVERTED = { string: 0, json: 19, list: 3 } as const;
const LOGICAL = { string: 1, list: 3, json: 12 } as const;
const OPTIONAL = 1;
const REPEATED = 2;
const DATA_PAGE = 0;
const PLAIN = 0;
const RLE = 3;
const ZSTD = 6;

/** The part of a column in one row group. */
export interface ColumnChunk {
  readonly valueCount: number;
  readonly nullCount: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
  /** Where its first page begins in the file. */
  readonly offset: number;
}

export interface RowGroup {
  readonly rowCount: number;
  /** In the order of the leaves. */
  readonly chunks: readonly ColumnChunk[];
}

const i32 = (value: number): ThriftValue => ({ i32: value });
const i64 = (value: number): ThriftValue => ({ i64: value });
const text = (value: string): ThriftValue => ({ text: value });
const list = (values: readonly ThriftValue[]): ThriftValue => ({ list: values });
const struct = (...fields: readonly [number, ThriftValue | undefined][]): ThriftValue => ({
  struct: new Map(fields),
});

/** The header in front of a page (`PageHeader`). */
export function encodePageHeader(page: {
  readonly valueCount: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
  /** Size of the compressed bytes. */
  readonly crc32: number;
}): Uint8Array {
  const header: ThriftStruct = new Map([
    [1, i32(DATA_PAGE)],
    [2, i32(page.uncompressedBytes)],
    [3, i32(page.compressedBytes)],
    [4, i32(page.crc32 | 0)],
    [5, struct([1, i32(page.valueCount)], [2, i32(PLAIN)], [3, i32(RLE)], [4, i32(RLE)])],
  ]);
  return encodeThrift(header);
}

/** `FileMetaData` with length and magic number. @param keyValues metadata of the writer's own */
export function encodeFooter(
  columns: readonly NamedColumn[],
  groups: readonly RowGroup[],
  createdBy: string,
  keyValues: Readonly<Record<string, string>> = {},
): Uint8Array {
  const pairs = Object.entries(keyValues).map(([key, value]) => struct([1, text(key)], [2, text(value)]));
  const leaves = columns.flatMap(leavesOf);
  const metadata = encodeThrift(
    new Map([
      [1, i32(2)],
      [2, list([struct([4, text('rows')], [5, i32(columns.length)]), ...columns.flatMap(schemaElements)])],
      [3, i64(groups.reduce((rows, { rowCount }) => rows + rowCount, 0))],
      [4, list(groups.map((group) => rowGroup(leaves, group)))],
      [5, pairs.length === 0 ? undefined : list(pairs)],
      [6, text(createdBy)],
    ]),
  );
  const footer = Buffer.alloc(metadata.byteLength + 8, 'PAR1');
  footer.set(metadata);
  footer.writeUInt32LE(metadata.byteLength, metadata.byteLength);
  footer.write('PAR1', metadata.byteLength + 4);
  return footer;
}

function schemaElements(column: NamedColumn): readonly ThriftValue[] {
  const { name, type } = column;
  const leaves = leavesOf(column).map(leafElement);
  const members = i32(leaves.length);
  switch (type) {
    case 'image':
      return [struct([3, i32(OPTIONAL)], [4, text(name)], [5, members]), ...leaves];
    case 'images':
    case 'strings':
      return [
        struct(
          [3, i32(OPTIONAL)],
          [4, text(name)],
          [5, i32(1)],
          [6, i32(CONVERTED.list)],
          [10, struct([LOGICAL.list, struct()])],
        ),
        struct([3, i32(REPEATED)], [4, text('list')], [5, i32(1)]),
        ...(type === 'images' ? [struct([3, i32(OPTIONAL)], [4, text('element')], [5, members])] : []),
        ...leaves,
      ];
    default:
      return leaves;
  }
}

function leafElement({ path, type }: Leaf): ThriftValue {
  const isText = type === 'string' || type === 'json';
  return struct(
    [1, i32(PHYSICAL[type])],
    [3, i32(OPTIONAL)],
    [4, text(path.at(-1) ?? '')],
    [6, isText ? i32(CONVERTED[type]) : undefined],
    [10, isText ? struct([LOGICAL[type], struct()]) : undefined],
  );
}

function rowGroup(leaves: readonly Leaf[], { rowCount, chunks }: RowGroup): ThriftValue {
  const total = (bytes: 'uncompressedBytes' | 'compressedBytes'): number =>
    chunks.reduce((sum, chunk) => sum + chunk[bytes], 0);
  return struct(
    [1, list(chunks.map((chunk, index) => columnChunk(leaves[index] as Leaf, chunk)))],
    [2, i64(total('uncompressedBytes'))],
    [3, i64(rowCount)],
    [5, i64(chunks[0]?.offset ?? 0)],
    [6, i64(total('compressedBytes'))],
  );
}

function columnChunk({ path, type }: Leaf, chunk: ColumnChunk): ThriftValue {
  const metadata = struct(
    [1, i32(PHYSICAL[type])],
    [2, list([i32(PLAIN), i32(RLE)])],
    [3, list(path.map(text))],
    [4, i32(ZSTD)],
    [5, i64(chunk.valueCount)],
    [6, i64(chunk.uncompressedBytes)],
    [7, i64(chunk.compressedBytes)],
    [9, i64(chunk.offset)],
    [12, struct([3, i64(chunk.nullCount)])],
  );
  return struct([2, i64(0)], [3, metadata]);
}
