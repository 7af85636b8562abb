import { isoDate, isoTimestamp } from '../../scalars/times.ts';
import { utf8Text } from '../../text/encodings.ts';
import type { Codec } from '../metadata/file-metadata.ts';
import type { PhysicalType, SchemaElement, SchemaTree } from '../metadata/schema.ts';
import { damaged } from '../parquet-error.ts';

/** Values of one column as they are stored, nulls left out. */
export type StoredValues =
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array
  | boolean[]
  | bigint[]
  | Uint8Array[];

/** Decodes a page some values at a time, since a page of a few bytes may encode millions of values. */
export interface ValueReader {
  /** The next `count` values. @throws ParquetError if the page holds fewer, or its bytes are damaged */
  next(count: number): StoredValues;
}

export interface LeafColumn {
  /** The column's way from the root of the schema. */
  readonly path: readonly SchemaTree[];
  readonly maxRepetition: number;
  readonly maxDefinition: number;
  readonly type: PhysicalType;
  readonly typeLength: number | undefined;
  readonly codec: Codec;
  readonly convert: ValueConverter;
  /** Whether its values do not refer to the bytes of their page. */
  readonly holdsTexts: boolean;
}

/** Values of a column in the form in which `compileCell` takes them. */
export type CellValues = StoredValues | Uint32Array | BigUint64Array | ReadonlyArray<unknown>;

/** Turns stored values into cells. @throws ParquetError if they cannot be what the column says */
export type ValueConverter = (values: StoredValues) => CellValues;

const NANOS = { MILLIS: 1_000_000n, MICROS: 1000n, NANOS: 1n };
const UNCONVERTED: ReadonlySet<unknown> = new Set(['DECIMAL', 'BSON', 'INTERVAL', 'GEOMETRY', 'GEOGRAPHY']);
const same: ValueConverter = (values) => values;

/**
 * Compiles what the annotations of a column make of its values: texts, UUIDs, ISO dates and timestamps, unsigned numbers,
 * half-precision numbers. Everything else comes as it is stored.
 * @param path the column's way from the root; of its older and newer annotations, one is enough
 */
export function compileConverter(path: readonly SchemaTree[]): ValueConverter {
  const { element } = path.at(-1) as SchemaTree;
  const { type, converted_type: converted, logical_type: logical } = element;
  // Already nanoseconds since 1970.
  if (type === 'INT96') return wholeNumbers(element, (nanos) => isoTimestamp(BigInt(nanos)));
  const annotations: readonly unknown[] = [converted, logical?.type];
  // Scaled by `compileCell`, or not converted at all.
  if (annotations.some((annotation) => UNCONVERTED.has(annotation))) return same;
  if (annotations.includes('DATE')) return wholeNumbers(element, (days) => isoDate(Number(days)));
  if (converted === 'TIMESTAMP_MILLIS') return timestamps(element, 'MILLIS');
  if (converted === 'TIMESTAMP_MICROS') return timestamps(element, 'MICROS');
  if (logical?.type === 'UUID') return bytes(element, uuidText);
  if (holdsTexts(element)) return bytes(element, decodeText);
  if (converted === 'UINT_64' || isUnsigned(element, 64)) {
    return (values) =>
      values instanceof BigInt64Array
        ? new BigUint64Array(values.buffer, values.byteOffset, values.length)
        : values;
  }
  if (converted === 'UINT_32' || isUnsigned(element, 32)) {
    return (values) =>
      values instanceof Int32Array
        ? new Uint32Array(values.buffer, values.byteOffset, values.length)
        : values;
  }
  if (logical?.type === 'FLOAT16') return bytes(element, halfPrecision);
  if (logical?.type === 'TIMESTAMP') return timestamps(element, logical.unit);
  return same;
}

export function holdsTexts({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return [converted, logical?.type].some((annotation) => TEXTS.has(annotation));
}

const TEXTS: ReadonlySet<unknown> = new Set(['UTF8', 'STRING', 'JSON']);

function isUnsigned({ logical_type: logical }: SchemaElement, width: number): boolean {
  return logical?.type === 'INTEGER' && logical.bitWidth === width && !logical.isSigned;
}

function timestamps(element: SchemaElement, unit: keyof typeof NANOS): ValueConverter {
  const nanos = NANOS[unit];
  return wholeNumbers(element, (value) => isoTimestamp(BigInt(value) * nanos));
}

function wholeNumbers(element: SchemaElement, convert: (value: number | bigint) => unknown): ValueConverter {
  if (element.type !== 'INT32' && element.type !== 'INT64' && element.type !== 'INT96')
    throw mismatch(element);
  return (values) => Array.from(values as ArrayLike<number | bigint>, convert);
}

function bytes(element: SchemaElement, convert: (value: Uint8Array) => unknown): ValueConverter {
  if (element.type !== 'BYTE_ARRAY' && element.type !== 'FIXED_LEN_BYTE_ARRAY') throw mismatch(element);
  return (values) => Array.from(values as ArrayLike<Uint8Array>, convert);
}

function mismatch({ type, converted_type: converted, logical_type: logical }: SchemaElement): Error {
  return damaged(`its type ${converted ?? logical?.type} cannot be stored as ${type}`);
}

/** IEEE 754 binary16, the lowest byte first. */
function halfPrecision(value: Uint8Array): number {
  if (value.length !== 2) throw damaged(`a number of half precision has ${value.length} bytes`);
  const bits = (value[0] as number) | ((value[1] as number) << 8);
  const sign = bits >> 15 === 1 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

/** Text of bytes in UTF-8. @throws ParquetError if they are none */
export function decodeText(value: Uint8Array): string {
  try {
    return utf8Text(value);
  } catch (cause) {
    throw damaged('a text is not UTF-8', cause);
  }
}

/** RFC 9562, the text of a UUID. @throws ParquetError if the bytes are not 16 */
export function uuidText(value: Uint8Array): string {
  if (value.length !== 16) throw damaged(`a UUID has ${value.length} bytes`);
  const hex = Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
