import { damaged, unsupported } from '../parquet-error.ts';
import { ByteCursor } from './byte-cursor.ts';
import {
  CONVERTED_TYPES,
  type LogicalType,
  PHYSICAL_TYPES,
  type PhysicalType,
  REPETITION_TYPES,
  type SchemaElement,
  type TimeUnit,
} from './schema.ts';
import {
  boolean,
  integer,
  list,
  oneOf,
  presence,
  readThrift,
  struct,
  type ThriftReader,
  text,
} from './thrift.ts';

/** `CompressionCodec`. */
const CODECS = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW'] as const;
export type Codec = (typeof CODECS)[number];

/** The parts of a file's footer that are read, by the format's own names (`FileMetaData`); statistics are not. */
export interface FileMetadata {
  readonly schema: SchemaElement[];
  readonly row_groups: RowGroupMetadata[];
  readonly created_by?: string;
  readonly key_value_metadata?: Array<{ key: string; value?: string }>;
}

interface RowGroupMetadata {
  readonly columns: ColumnChunkMetadata[];
  readonly num_rows: number;
}

/** `ColumnChunk`. */
export interface ColumnChunkMetadata {
  readonly file_path?: string;
  readonly meta_data?: ColumnMetadata;
  readonly offset_index_offset?: number;
  readonly offset_index_length?: number;
  readonly crypto_metadata?: true;
}

/** `ColumnMetaData`. */
export interface ColumnMetadata {
  readonly type: PhysicalType;
  readonly path_in_schema?: readonly string[];
  readonly codec: Codec;
  readonly num_values: number;
  readonly total_uncompressed_size: number;
  readonly total_compressed_size: number;
  readonly data_page_offset: number;
  readonly dictionary_page_offset?: number;
}

/** Files are known with some thousand columns; each keeps some hundred bytes of memory. */
const MAX_SCHEMA_ELEMENTS = 100_000;

const NOTHING = struct<object>({});
const unit = struct<{ MILLIS: object; MICROS: object; NANOS: object }>({
  1: ['MILLIS', NOTHING],
  2: ['MICROS', NOTHING],
  3: ['NANOS', NOTHING],
});
const time = struct<{ isAdjustedToUTC: boolean; unit: Partial<Record<TimeUnit, object>> }>({
  1: ['isAdjustedToUTC', boolean],
  2: ['unit', unit],
});
/** Structures of `LogicalType` that hold nothing that matters here. */
const PLAIN_LOGICAL_TYPES = {
  1: 'STRING',
  2: 'MAP',
  3: 'LIST',
  4: 'ENUM',
  6: 'DATE',
  11: 'NULL',
  12: 'JSON',
  13: 'BSON',
  14: 'UUID',
  15: 'FLOAT16',
  16: 'VARIANT',
  17: 'GEOMETRY',
  18: 'GEOGRAPHY',
} as const;

interface LogicalFields {
  readonly plain: LogicalType;
  readonly decimal: { scale?: number; precision?: number };
  readonly time: { isAdjustedToUTC?: boolean; unit?: Partial<Record<TimeUnit, object>> };
  readonly timestamp: { isAdjustedToUTC?: boolean; unit?: Partial<Record<TimeUnit, object>> };
  readonly integer: { bitWidth?: number; isSigned?: boolean };
}

const logicalFields = struct<LogicalFields>({
  ...Object.fromEntries(
    Object.entries(PLAIN_LOGICAL_TYPES).map(([id, type]) => [
      id,
      [
        'plain',
        (input: Parameters<typeof NOTHING>[0], kind: number): LogicalType => {
          NOTHING(input, kind);
          return { type };
        },
      ] as const,
    ]),
  ),
  5: [
    'decimal',
    struct<{ scale: number; precision: number }>({ 1: ['scale', integer], 2: ['precision', integer] }),
  ],
  7: ['time', time],
  8: ['timestamp', time],
  10: [
    'integer',
    struct<{ bitWidth: number; isSigned: boolean }>({ 1: ['bitWidth', integer], 2: ['isSigned', boolean] }),
  ],
});

const logicalType: ThriftReader<LogicalType | undefined> = (input, kind) => {
  const { plain, decimal, time, timestamp, integer: whole } = logicalFields(input, kind);
  if (plain !== undefined) return plain;
  if (decimal !== undefined) {
    return { type: 'DECIMAL', precision: decimal.precision ?? 0, scale: decimal.scale ?? 0 };
  }
  if (time !== undefined) return { type: 'TIME', ...toTimeType(time) };
  if (timestamp !== undefined) return { type: 'TIMESTAMP', ...toTimeType(timestamp) };
  if (whole !== undefined) {
    return { type: 'INTEGER', bitWidth: whole.bitWidth ?? 0, isSigned: whole.isSigned ?? false };
  }
  // A newer type: the physical type says enough.
  return undefined;
};

function toTimeType({ isAdjustedToUTC = false, unit }: NonNullable<LogicalFields['time']>): {
  isAdjustedToUTC: boolean;
  unit: TimeUnit;
} {
  for (const name of ['MILLIS', 'MICROS', 'NANOS'] as const) {
    if (unit?.[name] !== undefined) return { isAdjustedToUTC, unit: name };
  }
  throw damaged('a column of times has no unit');
}

const schemaElement = complete(
  struct<SchemaElementFields>({
    1: ['type', oneOf(PHYSICAL_TYPES)],
    2: ['type_length', integer],
    3: ['repetition_type', oneOf(REPETITION_TYPES)],
    4: ['name', text],
    5: ['num_children', integer],
    6: ['converted_type', oneOf(CONVERTED_TYPES)],
    7: ['scale', integer],
    8: ['precision', integer],
    10: ['logical_type', logicalType],
  }),
  { name: 'a column of its schema has no name' },
);
type SchemaElementFields = { [K in keyof SchemaElement]-?: SchemaElement[K] | undefined };

const columnMetadata = complete(
  struct<{ [K in keyof ColumnMetadata]-?: ColumnMetadata[K] | undefined }>({
    1: ['type', oneOf(PHYSICAL_TYPES)],
    3: ['path_in_schema', list(text)],
    4: ['codec', oneOf(CODECS)],
    5: ['num_values', integer],
    6: ['total_uncompressed_size', integer],
    7: ['total_compressed_size', integer],
    9: ['data_page_offset', integer],
    11: ['dictionary_page_offset', integer],
  }),
  {
    type: 'a column chunk has no known type',
    codec: 'a column chunk has no known compression',
    num_values: 'a column chunk has no number of values',
    total_uncompressed_size: 'a column chunk has no size',
    total_compressed_size: 'a column chunk has no size',
    data_page_offset: 'a column chunk has no place in the file',
  },
);

const columnChunk = struct<{ [K in keyof ColumnChunkMetadata]-?: ColumnChunkMetadata[K] }>({
  1: ['file_path', text],
  3: ['meta_data', columnMetadata],
  4: ['offset_index_offset', integer],
  5: ['offset_index_length', integer],
  8: ['crypto_metadata', presence],
}) as ThriftReader<ColumnChunkMetadata>;

const rowGroup = complete(
  struct<RowGroupMetadata>({ 1: ['columns', list(columnChunk)], 3: ['num_rows', integer] }),
  { columns: 'a row group has no columns', num_rows: 'a row group has no number of rows' },
);

const keyValue = complete(struct<{ key: string; value: string }>({ 1: ['key', text], 2: ['value', text] }), {
  key: 'an entry of its metadata has no key',
});

const fileMetadata = complete(
  struct<Required<FileMetadata>>({
    2: ['schema', list(schemaElement)],
    4: ['row_groups', list(rowGroup)],
    5: ['key_value_metadata', list(keyValue)],
    6: ['created_by', text],
  }),
  { schema: 'its footer has no schema', row_groups: 'its footer has no list of row groups' },
);

/** Reads the footer (Parquet format, "Metadata"), without the length and the magic number behind it. @throws ParquetError */
export function parseFileMetadata(bytes: Uint8Array): FileMetadata {
  const metadata = readThrift(fileMetadata, new ByteCursor(bytes));
  if (metadata.schema.length > MAX_SCHEMA_ELEMENTS) {
    throw unsupported(`its schema has ${metadata.schema.length} columns and groups`);
  }
  return metadata;
}

/** Where the pages of a chunk are (`PageLocation`). */
export interface PageLocationMetadata {
  readonly offset: number;
  readonly compressed_page_size: number;
  readonly first_row_index: number;
}

const offsetIndex = complete(
  struct<{ page_locations: PageLocationMetadata[] }>({
    1: [
      'page_locations',
      list(
        complete(
          struct<PageLocationMetadata>({
            1: ['offset', integer],
            2: ['compressed_page_size', integer],
            3: ['first_row_index', integer],
          }),
          {
            offset: 'a page of its page index has no place in the file',
            compressed_page_size: 'a page of its page index has no size',
            first_row_index: 'a page of its page index has no first row',
          },
        ),
      ),
    ],
  }),
  { page_locations: 'its page index lists no pages' },
);

/** Reads the page index of one chunk (Parquet format, "Page Index"). @throws ParquetError */
export function parsePageLocations(bytes: Uint8Array): PageLocationMetadata[] {
  return readThrift(offsetIndex, new ByteCursor(bytes)).page_locations;
}

/** A reader that refuses structures without the required fields. */
function complete<T extends object, K extends keyof T>(
  reader: ThriftReader<Partial<T>>,
  required: Readonly<Record<K, string>>,
): ThriftReader<Complete<T, K>> {
  const reasons = Object.entries(required) as Array<[K, string]>;
  return (input, type) => {
    const value = reader(input, type);
    for (const [key, reason] of reasons) {
      if (value[key] === undefined) throw damaged(reason);
    }
    return value as Complete<T, K>;
  };
}
type Complete<T, K extends keyof T> = { [P in K]: Exclude<T[P], undefined> } & {
  [P in Exclude<keyof T, K>]?: Exclude<T[P], undefined>;
};
