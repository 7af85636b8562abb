import { damaged, unsupported } from '../parquet-error.ts';
import { ByteCursor } from './byte-cursor.ts';
import {
  CONVERTED_TYPES,
  type LogicalType,
  PHYSICAL_TYPES,
  type PhysicalType,
  PLAIN_LOGICAL_TYPES,
  REPETITION_TYPES,
  type SchemaElement,
  TIME_UNITS,
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

const nothing = struct<object>({});
const decimal = struct<{ scale: number; precision: number }>({
  1: ['scale', integer],
  2: ['precision', integer],
});
const wholeNumber = struct<{ bitWidth: number; isSigned: boolean }>({
  1: ['bitWidth', integer],
  2: ['isSigned', boolean],
});
const time = struct<{ isAdjustedToUTC: boolean; unit: Partial<Record<TimeUnit, object>> }>({
  1: ['isAdjustedToUTC', boolean],
  2: [
    'unit',
    struct<Record<TimeUnit, object>>({
      1: ['MILLIS', nothing],
      2: ['MICROS', nothing],
      3: ['NANOS', nothing],
    }),
  ],
});

type LogicalField = readonly ['logical', ThriftReader<LogicalType>];

const timeField = (type: 'TIME' | 'TIMESTAMP'): LogicalField => [
  'logical',
  (input, kind) => {
    const { isAdjustedToUTC = false, unit } = time(input, kind);
    const name = TIME_UNITS.find((each) => unit?.[each] !== undefined);
    if (name === undefined) throw damaged('a column of times has no unit');
    return { type, isAdjustedToUTC, unit: name };
  },
];

const plainFields = Object.entries(PLAIN_LOGICAL_TYPES).map(([id, type]): [string, LogicalField] => [
  id,
  ['logical', (input, kind) => ({ ...nothing(input, kind), type })],
]);

/** Of a newer type nothing is known: the physical type says enough. */
const logicalTypes = struct<{ logical: LogicalType }>({
  ...Object.fromEntries(plainFields),
  5: ['logical', (input, kind) => ({ type: 'DECIMAL', precision: 0, scale: 0, ...decimal(input, kind) })],
  7: timeField('TIME'),
  8: timeField('TIMESTAMP'),
  10: [
    'logical',
    (input, kind) => ({ type: 'INTEGER', bitWidth: 0, isSigned: false, ...wholeNumber(input, kind) }),
  ],
});
const logicalType: ThriftReader<LogicalType | undefined> = (input, kind) => logicalTypes(input, kind).logical;

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
  'a column of its schema',
  ['name'],
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
  'a column chunk',
  ['type', 'codec', 'num_values', 'total_uncompressed_size', 'total_compressed_size', 'data_page_offset'],
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
  'a row group',
  ['columns', 'num_rows'],
);

const keyValue = complete(
  struct<{ key: string; value: string }>({ 1: ['key', text], 2: ['value', text] }),
  'an entry of its metadata',
  ['key'],
);

const fileMetadata = complete(
  struct<Required<FileMetadata>>({
    2: ['schema', list(schemaElement)],
    4: ['row_groups', list(rowGroup)],
    5: ['key_value_metadata', list(keyValue)],
    6: ['created_by', text],
  }),
  'its footer',
  ['schema', 'row_groups'],
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

const pageLocation = complete(
  struct<PageLocationMetadata>({
    1: ['offset', integer],
    2: ['compressed_page_size', integer],
    3: ['first_row_index', integer],
  }),
  'a page of its page index',
  ['offset', 'compressed_page_size', 'first_row_index'],
);
const offsetIndex = complete(
  struct<{ page_locations: PageLocationMetadata[] }>({ 1: ['page_locations', list(pageLocation)] }),
  'its page index',
  ['page_locations'],
);

/** Reads the page index of one chunk (Parquet format, "Page Index"). @throws ParquetError */
export function parsePageLocations(bytes: Uint8Array): PageLocationMetadata[] {
  return readThrift(offsetIndex, new ByteCursor(bytes)).page_locations;
}

/** A reader that refuses structures without the required fields. @param what is read, for the error */
function complete<T extends object, K extends keyof T & string>(
  reader: ThriftReader<Partial<T>>,
  what: string,
  required: readonly K[],
): ThriftReader<Complete<T, K>> {
  return (input, type) => {
    const value = reader(input, type);
    const missing = required.find((key) => value[key] === undefined);
    if (missing !== undefined) throw damaged(`${what} has no ${missing}, or an unknown one`);
    return value as Complete<T, K>;
  };
}
type Complete<T, K extends keyof T> = { [P in K]: Exclude<T[P], undefined> } & {
  [P in Exclude<keyof T, K>]?: Exclude<T[P], undefined>;
};
