import type { ByteCursor } from '../metadata/byte-cursor.ts';
import type { PhysicalType } from '../metadata/schema.ts';
import { damaged, unsupported } from '../parquet-error.ts';
import { fixedValues, fixedWidth } from './plain.ts';
import type { ValueReader } from './values.ts';

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
