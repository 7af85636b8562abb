import { encodeBase64 } from '@svc/jsonl-v23/internal';
import { type JsonObject, type JsonValue, parseNumber, setMember } from '@svc/jsonl-v23/json';
import { decimalText, wholeNumber } from '../../scalars/decimal.ts';
import { isoDate, isoTimestamp } from '../../scalars/iso-time.ts';
import { timeOfDay } from '../../scalars/time-units.ts';
import { damaged, tooLarge, unsupported } from '../parquet-error.ts';
import { decodeText, uuidText } from './texts.ts';
import { readUint, type VariantNames } from './variant-names.ts';

/** Levels of arrays and objects, as in JSON files. */
const MAX_DEPTH = 256;
/** Values that the VARIANTs of one row may have; an item has no more. */
const MAX_VALUES = 250_000;
/** The most digits after the point that the format allows. */
const MAX_SCALE = 38;

/** Counts the values of a row. */
export class VariantLimit {
  #left: number = MAX_VALUES;

  /** Begins a row. */
  reset(): void {
    this.#left = MAX_VALUES;
  }

  /** Counts some values. @throws ParquetError `invalid_row` if the row has too many */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw tooLarge(`VARIANTs of a row have more than ${MAX_VALUES} values`);
  }
}

/** Refuses a depth of nesting that no JSON file may have. @throws ParquetError `invalid_row` */
export function checkVariantDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw tooLarge(`a VARIANT is nested more than ${MAX_DEPTH} levels deep`);
}

/**
 * Decodes the value of a VARIANT (Parquet format, "Variant Binary Encoding") to JSON, with every digit. No byte outside
 * `bytes` is read, and each byte is part of one value only, so that the time is linear.
 *
 * @param depth levels around the value
 * @throws ParquetError where the bytes contradict the format, `invalid_row` where there are too many values or levels
 */
export function decodeVariant(
  bytes: Uint8Array,
  names: VariantNames,
  limit: VariantLimit,
  depth = 0,
): JsonValue {
  const reader = new VariantReader(bytes, names, limit);
  const value = reader.read(0, bytes.length, depth);
  if (reader.end !== bytes.length) throw damaged('a VARIANT does not end with its value');
  return value;
}

class VariantReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #names: VariantNames;
  readonly #limit: VariantLimit;
  /** Bytes that belong to no value yet. */
  #unread: number;
  /** The index after the value that was read last. */
  end = 0;

  constructor(bytes: Uint8Array, names: VariantNames, limit: VariantLimit) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#names = names;
    this.#limit = limit;
    this.#unread = bytes.length;
  }

  /** Reads the value that begins at `at` and ends at `until` or before. */
  read(at: number, until: number, depth: number): JsonValue {
    this.#limit.take(1);
    const header = this.#bytes[this.#take(at, 1, until)] as number;
    const kind = header >> 2;
    switch (header & 3) {
      case 0:
        return this.#primitive(kind, at + 1, until);
      case 1:
        return decodeText(this.#slice(at + 1, kind, until));
      case 2:
        return this.#object(kind, at + 1, until, depth + 1);
      default:
        return this.#array(kind, at + 1, until, depth + 1);
    }
  }

  /** Marks bytes as those of the value that is read. @returns `at` */
  #take(at: number, length: number, until: number): number {
    if (length > until - at) throw damaged('a VARIANT reaches beyond the end of its bytes');
    this.#unread -= length;
    if (this.#unread < 0) throw damaged('values of a VARIANT overlap');
    this.end = at + length;
    return at;
  }

  #slice(at: number, length: number, until: number): Uint8Array {
    this.#take(at, length, until);
    return this.#bytes.subarray(at, at + length);
  }

  /** An unsigned number of one to four bytes that have been taken. */
  #uint(at: number, width: number): number {
    return readUint(this.#bytes, at, width);
  }

  #sized(at: number, until: number): Uint8Array {
    const length = this.#uint(this.#take(at, 4, until), 4);
    return this.#slice(at + 4, length, until);
  }

  #primitive(kind: number, at: number, until: number): JsonValue {
    const view = this.#view;
    switch (kind) {
      case 0:
        return null;
      case 1:
        return true;
      case 2:
        return false;
      case 3:
        return view.getInt8(this.#take(at, 1, until));
      case 4:
        return view.getInt16(this.#take(at, 2, until), true);
      case 5:
        return view.getInt32(this.#take(at, 4, until), true);
      case 6:
        return wholeNumber(this.#int64(at, until));
      case 7:
        return finite(view.getFloat64(this.#take(at, 8, until), true));
      case 8:
      case 9:
      case 10:
        return this.#decimal(at, 4 << (kind - 8), until);
      case 11:
        return isoDate(view.getInt32(this.#take(at, 4, until), true));
      case 12:
        return `${isoTimestamp(this.#int64(at, until) * 1000n)}Z`;
      case 13:
        return isoTimestamp(this.#int64(at, until) * 1000n);
      case 14:
        return finite(view.getFloat32(this.#take(at, 4, until), true));
      case 15:
        return encodeBase64(this.#sized(at, until));
      case 16:
        return decodeText(this.#sized(at, until));
      case 17:
        return this.#time(this.#int64(at, until));
      case 18:
        return `${isoTimestamp(this.#int64(at, until))}Z`;
      case 19:
        return isoTimestamp(this.#int64(at, until));
      case 20:
        return uuidText(this.#slice(at, 16, until));
      default:
        throw unsupported(`a VARIANT holds a value of type ${kind}`);
    }
  }

  #int64(at: number, until: number): bigint {
    return this.#view.getBigInt64(this.#take(at, 8, until), true);
  }

  /** A time of day; what is none stays the number that it is, as in columns of times. */
  #time(micros: bigint): JsonValue {
    return timeOfDay(micros, 'us') ?? wholeNumber(micros);
  }

  #decimal(at: number, width: number, until: number): JsonValue {
    const scale = this.#bytes[this.#take(at, 1 + width, until)] as number;
    if (scale > MAX_SCALE) throw damaged(`a decimal of a VARIANT has the scale ${scale}`);
    const view = this.#view;
    const unscaled =
      width === 4
        ? BigInt(view.getInt32(at + 1, true))
        : width === 8
          ? view.getBigInt64(at + 1, true)
          : (view.getBigInt64(at + 9, true) << 64n) | view.getBigUint64(at + 1, true);
    return parseNumber(decimalText(unscaled, scale));
  }

  #array(kind: number, at: number, until: number, depth: number): JsonValue[] {
    checkVariantDepth(depth);
    const width = (kind & 3) + 1;
    const table = this.#table(at, until, { isLarge: (kind & 4) !== 0, idWidth: 0, width });
    const values: JsonValue[] = [];
    for (let index = 0; index < table.count; index += 1) {
      values.push(
        this.read(table.values + this.#uint(table.offsets + index * width, width), table.end, depth),
      );
    }
    this.end = table.end;
    return values;
  }

  #object(kind: number, at: number, until: number, depth: number): JsonObject {
    checkVariantDepth(depth);
    const width = (kind & 3) + 1;
    const idWidth = ((kind >> 2) & 3) + 1;
    const table = this.#table(at, until, { isLarge: (kind & 16) !== 0, idWidth, width });
    const object: JsonObject = {};
    for (let index = 0; index < table.count; index += 1) {
      const name = this.#names.get(this.#uint(table.ids + index * idWidth, idWidth));
      if (Object.hasOwn(object, name)) throw damaged('an object of a VARIANT has two members of one name');
      const offset = this.#uint(table.offsets + index * width, width);
      setMember(object, name, this.read(table.values + offset, table.end, depth));
    }
    this.end = table.end;
    return object;
  }

  /** The counts and offsets before the values of an array or object. */
  #table(
    at: number,
    until: number,
    { isLarge, idWidth, width }: { isLarge: boolean; idWidth: number; width: number },
  ): { count: number; ids: number; offsets: number; values: number; end: number } {
    const countWidth = isLarge ? 4 : 1;
    const count = this.#uint(this.#take(at, countWidth, until), countWidth);
    const ids = at + countWidth;
    const offsets = ids + count * idWidth;
    const values = offsets + (count + 1) * width;
    this.#take(ids, values - ids, until);
    const end = values + this.#uint(offsets + count * width, width);
    if (end > until) throw damaged('a VARIANT reaches beyond the end of its bytes');
    return { count, ids, offsets, values, end };
  }
}

function finite(value: number): JsonValue {
  return Number.isFinite(value) ? value : null;
}
