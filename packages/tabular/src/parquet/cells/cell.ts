/**
 * Cells of Parquet files, from what `assembleColumn` returns to JSON values. `compileConverter` makes them from stored values,
 * once for each value of a dictionary:
 *
 * - booleans, numbers (up to 32 bits, floats), bigints (64 bits), strings (text, ENUM, UUID and JSON columns);
 * - timestamps and dates: ISO texts in UTC without a zone, of any unit;
 * - times and durations: the whole number that the file holds; decimals: the unscaled whole number, or its bytes;
 * - binary, and text that only the `huggingface` entry calls text: Uint8Array;
 * - lists: arrays; structs: plain objects; maps: an object whose one member is a list of {key, value};
 * - null: null or undefined, at every level.
 */

import { decodeBase64, encodeBase64 } from '@svc/jsonl-v23/bytes';
import { canonicalJson, type JsonObject, type JsonValue, parseNumber, setMember } from '@svc/jsonl-v23/json';
import { decimalText, signedInteger, wholeNumber } from '../../scalars/numbers.ts';
import { compileZone, durationSeconds, parseTimeType, timeOfDay } from '../../scalars/times.ts';
import { jsonOrText } from '../../schema/cast.ts';
import { type Feature, listOf, valueFeature } from '../../schema/features.ts';
import { decodeText } from './convert.ts';

export type CellConverter = (cell: unknown) => JsonValue;

/**
 * Compiles the conversion of one column's cells: class labels to their names (-1 to null), whole numbers and decimals
 * with all their digits, NaN and infinities to null, timestamps, dates and times to ISO 8601, durations to seconds,
 * binary to base64, maps to objects, images and their like to `{bytes, path}`, JSON columns to what their text says. A
 * cell that does not have its column's type is taken as it comes; nothing is refused.
 * The converter throws ParquetError for text that is not UTF-8.
 */
export function compileCell(feature: Feature): CellConverter {
  const convert = converterFor(feature);
  return (cell) => (cell === null || cell === undefined ? null : convert(cell));
}

function converterFor(feature: Feature): CellConverter {
  switch (feature.kind) {
    case 'value':
      return valueConverter(feature.dtype);
    case 'class_label':
      return (cell) => labelName(cell, feature.names);
    case 'list': {
      const item = compileCell(feature.item);
      return (cell) => (isList(cell) ? Array.from(cell, item) : toJson(cell));
    }
    case 'array': {
      return compileCell(feature.shape.reduce<Feature>(listOf, valueFeature(feature.dtype)));
    }
    case 'struct': {
      const fields = feature.fields.map(({ name, feature: inner }) => ({
        name,
        convert: compileCell(inner),
      }));
      return (cell) => {
        if (!isObject(cell)) return toJson(cell);
        const object: JsonObject = {};
        for (const { name, convert } of fields) {
          setMember(object, name, Object.hasOwn(cell, name) ? convert(cell[name]) : null);
        }
        return object;
      };
    }
    case 'map': {
      const key = compileCell(feature.key);
      const value = compileCell(feature.value);
      return (cell) => mapObject(cell, key, value);
    }
    case 'media':
      return mediaCell;
    case 'json':
      return jsonCell;
    case 'translation':
    case 'unknown':
      return toJson;
  }
}

function valueConverter(dtype: string): CellConverter {
  const time = parseTimeType(dtype);
  if (time?.kind === 'timestamp') {
    if (time.zone === undefined) return toJson;
    const toZone = compileZone(time.zone);
    return (cell) => (typeof cell === 'string' ? toZone(cell) : toJson(cell));
  }
  if (time?.kind === 'time') {
    // Parquet has no seconds: they are stored as milliseconds.
    const stored = time.unit === 's' ? 'ms' : time.unit;
    return (cell) => (isWhole(cell) ? timeOfDay(BigInt(cell), stored) : null) ?? toJson(cell);
  }
  if (time?.kind === 'duration') {
    return (cell) => (isWhole(cell) ? durationSeconds(BigInt(cell), time.unit) : toJson(cell));
  }
  const scale = /^decimal.*, ?(-?[0-9]+)\)$/.exec(dtype)?.[1];
  if (scale !== undefined && Math.abs(Number(scale)) <= MAX_DECIMAL_SCALE) {
    return (cell) => decimalCell(cell, Number(scale));
  }
  if (/string/.test(dtype)) return (cell) => (cell instanceof Uint8Array ? decodeText(cell) : toJson(cell));
  return toJson;
}

// Arrow's widest decimals have 76 digits; a much larger scale is not written out.
const MAX_DECIMAL_SCALE = 200;
const MAX_DECIMAL_BYTES = 64;

function toJson(cell: unknown): JsonValue {
  switch (typeof cell) {
    case 'string':
    case 'boolean':
      return cell;
    case 'number':
      return Number.isFinite(cell) ? cell : null;
    case 'bigint':
      return wholeNumber(cell);
    case 'object': {
      if (cell === null) return null;
      if (cell instanceof Uint8Array) return encodeBase64(cell);
      if (isList(cell)) return Array.from(cell, toJson);
      const object: JsonObject = {};
      for (const [key, value] of Object.entries(cell)) setMember(object, key, toJson(value));
      return object;
    }
    default:
      return null;
  }
}

function labelName(cell: unknown, names: readonly string[]): JsonValue {
  if (!isWhole(cell)) return toJson(cell);
  if (Number(cell) === -1) return null;
  // A number without a name stays a number: better than losing it.
  return names[Number(cell)] ?? toJson(cell);
}

function decimalCell(cell: unknown, scale: number): JsonValue {
  if (cell instanceof Uint8Array && cell.length <= MAX_DECIMAL_BYTES) {
    return parseNumber(decimalText(signedInteger(cell), scale));
  }
  return isWhole(cell) ? parseNumber(decimalText(BigInt(cell), scale)) : toJson(cell);
}

function mapObject(cell: unknown, key: CellConverter, value: CellConverter): JsonValue {
  if (!isObject(cell)) return toJson(cell);
  const [entries] = Object.values(cell);
  const object: JsonObject = {};
  if (!isList(entries)) return object;
  for (const entry of Array.from(entries)) {
    if (!isObject(entry)) continue;
    const [rawKey, rawValue] = Object.values(entry);
    setMember(object, memberName(key(rawKey), rawKey), value(rawValue));
  }
  return object;
}

/** The key of a map's entry as a name: a different name for each key, of any type. */
function memberName(key: JsonValue, rawKey: unknown): string {
  if (typeof key === 'string') return key;
  // NaN and infinities have no JSON text.
  return key === null ? String(rawKey ?? null) : canonicalJson(key);
}

function mediaCell(cell: unknown): JsonValue {
  if (typeof cell === 'string') return { bytes: null, path: cell };
  if (cell instanceof Uint8Array) return { bytes: encodeBase64(cell), path: null };
  if (!isObject(cell)) return toJson(cell);
  const bytes = cell['bytes'];
  const path = cell['path'];
  // JSON Lines hold bytes as base64 already.
  const text = typeof bytes === 'string' && decodeBase64(bytes) !== null ? bytes : null;
  return {
    bytes: bytes instanceof Uint8Array ? encodeBase64(bytes) : text,
    path: path instanceof Uint8Array ? decodeText(path) : typeof path === 'string' ? path : null,
  };
}

function jsonCell(cell: unknown): JsonValue {
  const text = cell instanceof Uint8Array ? decodeText(cell) : cell;
  return typeof text === 'string' ? jsonOrText(text) : toJson(text);
}

function isWhole(cell: unknown): cell is number | bigint {
  return typeof cell === 'bigint' || Number.isSafeInteger(cell);
}

function isList(cell: unknown): cell is ArrayLike<unknown> {
  return (
    Array.isArray(cell) ||
    (ArrayBuffer.isView(cell) && !(cell instanceof Uint8Array) && !(cell instanceof DataView))
  );
}

function isObject(cell: unknown): cell is Record<string, unknown> {
  return typeof cell === 'object' && cell !== null && !isList(cell) && !(cell instanceof Uint8Array);
}
