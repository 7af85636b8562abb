import type { ColumnType } from '../table-column.ts';
import { encodeThrift, type ThriftStruct, type ThriftValue } from './thrift-writer.ts';

/** Numbers of `parquet.thrift`. */
const PHYSICAL = { bool: 0, int64: 2, double: 5, string: 6, json: 6 } as const;
const CONVERTED = { string: 0, json: 19 } as const;
const LOGICAL = { string: 1, json: 12 } as const;
const OPTIONAL = 1;
const DATA_PAGE = 0;
const PLAIN = 0;
const RLE = 3;
const ZSTD = 6;

/** The part of a column in one row group. */
export interface ColumnChunk {
  readonly rowCount: number;
  readonly nullCount: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
  /** Where its first page begins in the file. */
  readonly offset: number;
}

export interface RowGroup {
  readonly rowCount: number;
  /** In the order of the columns. */
  readonly chunks: readonly ColumnChunk[];
}

type NamedColumn = { readonly name: string; readonly type: ColumnType };

const i32 = (value: number): ThriftValue => ({ i32: value });
const i64 = (value: number): ThriftValue => ({ i64: value });
const text = (value: string): ThriftValue => ({ text: value });
const list = (values: readonly ThriftValue[]): ThriftValue => ({ list: values });
const struct = (...fields: readonly [number, ThriftValue | undefined][]): ThriftValue => ({
  struct: new Map(fields),
});

/** The header in front of a page (`PageHeader`). */
export function encodePageHeader(page: {
  readonly rowCount: number;
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
    [5, struct([1, i32(page.rowCount)], [2, i32(PLAIN)], [3, i32(RLE)], [4, i32(RLE)])],
  ]);
  return encodeThrift(header);
}

/** The end of a file: its metadata (`FileMetaData`) with length and magic number. */
export function encodeFooter(
  columns: readonly NamedColumn[],
  groups: readonly RowGroup[],
  createdBy: string,
): Uint8Array {
  const metadata = encodeThrift(
    new Map([
      [1, i32(2)],
      [2, list([struct([4, text('rows')], [5, i32(columns.length)]), ...columns.map(schemaElement)])],
      [3, i64(groups.reduce((rows, { rowCount }) => rows + rowCount, 0))],
      [4, list(groups.map((group) => rowGroup(columns, group)))],
      [6, text(createdBy)],
    ]),
  );
  const footer = Buffer.alloc(metadata.byteLength + 8, 'PAR1');
  footer.set(metadata);
  footer.writeUInt32LE(metadata.byteLength, metadata.byteLength);
  footer.write('PAR1', metadata.byteLength + 4);
  return footer;
}

function schemaElement({ name, type }: NamedColumn): ThriftValue {
  const isText = type === 'string' || type === 'json';
  return struct(
    [1, i32(PHYSICAL[type])],
    [3, i32(OPTIONAL)],
    [4, text(name)],
    [6, isText ? i32(CONVERTED[type]) : undefined],
    [10, isText ? struct([LOGICAL[type], struct()]) : undefined],
  );
}

function rowGroup(columns: readonly NamedColumn[], { rowCount, chunks }: RowGroup): ThriftValue {
  const total = (bytes: 'uncompressedBytes' | 'compressedBytes'): number =>
    chunks.reduce((sum, chunk) => sum + chunk[bytes], 0);
  return struct(
    [1, list(chunks.map((chunk, index) => columnChunk(columns[index] as NamedColumn, chunk)))],
    [2, i64(total('uncompressedBytes'))],
    [3, i64(rowCount)],
    [5, i64(chunks[0]?.offset ?? 0)],
    [6, i64(total('compressedBytes'))],
  );
}

function columnChunk({ name, type }: NamedColumn, chunk: ColumnChunk): ThriftValue {
  const metadata = struct(
    [1, i32(PHYSICAL[type])],
    [2, list([i32(PLAIN), i32(RLE)])],
    [3, list([text(name)])],
    [4, i32(ZSTD)],
    [5, i64(chunk.rowCount)],
    [6, i64(chunk.uncompressedBytes)],
    [7, i64(chunk.compressedBytes)],
    [9, i64(chunk.offset)],
    [12, struct([3, i64(chunk.nullCount)])],
  );
  return struct([2, i64(0)], [3, metadata]);
}
