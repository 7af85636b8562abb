import type { ValueReader } from '../cells/convert.ts';
import type { ByteCursor } from '../metadata/byte-cursor.ts';
import type { PhysicalType } from '../metadata/schema.ts';
import { damaged, unsupported } from '../parquet-error.ts';

const VALUES = 'a value';
/** Julian day of 1970-01-01. */
const EPOCH_DAY = 2_440_588;
const NANOS_PER_DAY = 86_400_000_000_000n;

/** Reads values that are stored one after another (Parquet format, "Plain"), as numbers and bytes of the column's type. */
export function plainReader(
  cursor: ByteCursor,
  type: PhysicalType,
  typeLength: number | undefined,
): ValueReader {
  switch (type) {
    case 'BOOLEAN':
      return booleans(cursor);
    case 'INT32':
      return { next: (count) => new Int32Array(aligned(cursor, count, 4)) };
    case 'INT64':
      return { next: (count) => new BigInt64Array(aligned(cursor, count, 8)) };
    case 'FLOAT':
      return { next: (count) => new Float32Array(aligned(cursor, count, 4)) };
    case 'DOUBLE':
      return { next: (count) => new Float64Array(aligned(cursor, count, 8)) };
    case 'INT96':
      return { next: (count) => int96Nanos(cursor, count) };
    case 'BYTE_ARRAY':
      return { next: (count) => plainTexts(cursor, count) };
    case 'FIXED_LEN_BYTE_ARRAY': {
      const width = fixedWidth(typeLength);
      return { next: (count) => fixedValues(cursor.take(count * width, VALUES), count, width) };
    }
  }
}

/** Texts with their lengths in front, little-endian. @throws ParquetError */
export function plainTexts(cursor: ByteCursor, count: number): Uint8Array[] {
  // Each takes at least four bytes, so missing values take no memory.
  if (count * 4 > cursor.left) throw damaged('a value is longer than its page');
  const texts = new Array<Uint8Array>(count);
  const { bytes } = cursor;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytes.length;
  let at = cursor.offset;
  for (let index = 0; index < count; index += 1) {
    if (at + 4 > size) throw damaged('a value is longer than its page');
    const length = view.getUint32(at, true);
    at += 4;
    if (length > size - at) throw damaged('a value is longer than its page');
    texts[index] = bytes.subarray(at, at + length);
    at += length;
  }
  cursor.offset = at;
  return texts;
}

function fixedValues(bytes: Uint8Array, count: number, width: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * width, (index + 1) * width));
}

/** The length of a column's fixed values. @throws ParquetError if it states none */
function fixedWidth(typeLength: number | undefined): number {
  if (typeLength === undefined || typeLength <= 0) throw damaged('its values have no length');
  return typeLength;
}

/** Memory of the next `count` numbers of `width` bytes alone. */
function aligned(cursor: ByteCursor, count: number, width: number): ArrayBuffer {
  return new Uint8Array(cursor.take(count * width, VALUES)).buffer;
}

function booleans(cursor: ByteCursor): ValueReader {
  let bit = 8;
  let byte = 0;
  return {
    next(count) {
      if (count > cursor.left * 8 + (8 - bit)) throw damaged('it has fewer values than its page states');
      const values: boolean[] = new Array(count);
      for (let index = 0; index < count; index += 1) {
        if (bit === 8) {
          byte = cursor.uint8(VALUES);
          bit = 0;
        }
        values[index] = ((byte >> bit++) & 1) === 1;
      }
      return values;
    },
  };
}

/** Timestamps of 96 bits: nanoseconds of the day, then the Julian day. As nanoseconds since 1970. */
function int96Nanos(cursor: ByteCursor, count: number): bigint[] {
  const bytes = cursor.take(count * 12, VALUES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: count }, (_, index) => {
    const days = view.getInt32(index * 12 + 8, true) - EPOCH_DAY;
    return BigInt(days) * NANOS_PER_DAY + view.getBigInt64(index * 12, true);
  });
}

/** Reads values whose first bytes are stored together, then their second ones, and so on (Parquet format, "Byte Stream Split"). */
export function byteStreamSplitReader(
  cursor: ByteCursor,
  type: PhysicalType,
  typeLength: number | undefined,
): ValueReader {
  const width = widthOf(type, typeLength);
  const total = cursor.left / width;
  if (!Number.isInteger(total)) throw damaged('its values do not fill its page');
  const streams = cursor.take(cursor.left, 'a value');
  let first = 0;
  return {
    next(count) {
      if (count > total - first) throw damaged('it has fewer values than its page states');
      const bytes = new Uint8Array(count * width);
      for (let location = 0; location < width; location += 1) {
        const from = location * total + first;
        for (let index = 0; index < count; index += 1)
          bytes[index * width + location] = streams[from + index] as number;
      }
      first += count;
      switch (type) {
        case 'FLOAT':
          return new Float32Array(bytes.buffer);
        case 'DOUBLE':
          return new Float64Array(bytes.buffer);
        case 'INT32':
          return new Int32Array(bytes.buffer);
        case 'INT64':
          return new BigInt64Array(bytes.buffer);
        default:
          return fixedValues(bytes, count, width);
      }
    },
  };
}

function widthOf(type: PhysicalType, typeLength: number | undefined): number {
  switch (type) {
    case 'FLOAT':
    case 'INT32':
      return 4;
    case 'DOUBLE':
    case 'INT64':
      return 8;
    case 'FIXED_LEN_BYTE_ARRAY':
      return fixedWidth(typeLength);
    default:
      throw unsupported(`encoding BYTE_STREAM_SPLIT of ${type}`);
  }
}
