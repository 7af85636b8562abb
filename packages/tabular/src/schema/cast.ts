import { encodeBase64 } from '@svc/jsonl-v23/bytes';
import {
  canonicalJson,
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
  tryParseJson,
} from '@svc/jsonl-v23/json';
import { csvNumber, isInt64 } from '../scalars/numbers.ts';
import {
  compileZone,
  completeTimestamp,
  durationSeconds,
  isoTimestamp,
  nanosOf,
  parseTimeType,
  type TimeUnit,
  timeOfDay,
} from '../scalars/times.ts';
import { type Feature, someFeature } from './features.ts';

export type Convert = (value: JsonValue) => JsonValue;

/** A struct with all its members, and the further members of the given one. */
function toRow(row: JsonObject, converts: ReadonlyMap<string, Convert>): JsonObject {
  const typed: JsonObject = {};
  for (const [name, convert] of converts) {
    const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
    setMember(typed, name, value === null ? null : convert(value));
  }
  for (const [name, value] of Object.entries(row)) {
    if (!Object.hasOwn(typed, name)) setMember(typed, name, value);
  }
  return typed;
}

/** Converts JSON values of an inferred type: only timestamps change. */
export function completeJson(feature: Feature): Convert {
  if (!someFeature(feature, isTimestamp)) return (value) => value;
  if (feature.kind === 'list') {
    const item = completeJson(feature.item);
    return (value) =>
      Array.isArray(value) ? value.map((inner) => (inner === null ? null : item(inner))) : value;
  }
  if (feature.kind === 'struct') {
    const fields = new Map(feature.fields.map(({ name, feature: inner }) => [name, completeJson(inner)]));
    return (value) => mapMembers(value, (name, inner) => fields.get(name)?.(inner) ?? inner);
  }
  return toTimestamp;
}

const isTimestamp = (feature: Feature): boolean =>
  feature.kind === 'value' && feature.dtype.startsWith('timestamp');

function toTimestamp(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (completeTimestamp(value) ?? value) : value;
}

export function parseField(feature: Feature): Convert {
  const dtype = feature.kind === 'value' ? feature.dtype : 'string';
  if (/^(?:u?int|float)/.test(dtype)) return toNumber;
  return dtype === 'bool' ? toBoolean : asIs;
}

export const asIs: Convert = (value) => value;

function toNumber(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const number = csvNumber(value);
  return number === undefined ? value : number;
}

function toBoolean(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  return /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value;
}

/**
 * Converts JSON values or CSV fields to a declared type as the `datasets` library does. A value stays as it is if the
 * library refuses it, or the cast would change it.
 * @param isCsv whether all values are texts, so that digits are a number
 */
export function castTo(feature: Feature, isCsv: boolean): Convert {
  switch (feature.kind) {
    case 'value':
      return castToValue(feature.dtype, isCsv);
    case 'class_label':
      return (value) => toLabel(value, feature.names);
    case 'list': {
      const item = castTo(feature.item, isCsv);
      return (value) =>
        Array.isArray(value) ? value.map((inner) => (inner === null ? null : item(inner))) : value;
    }
    case 'struct': {
      const fields = new Map(feature.fields.map(({ name, feature: inner }) => [name, castTo(inner, isCsv)]));
      return (value) => (isJsonObject(value) ? toRow(value, fields) : value);
    }
    case 'media':
      return (value) => (typeof value === 'string' ? { bytes: null, path: value } : value);
    case 'json':
      return (value) => (typeof value === 'string' ? jsonOrText(value) : value);
    default:
      return (value) => value;
  }
}

function castToValue(dtype: string, isCsv: boolean): Convert {
  if (/string/.test(dtype)) return (value) => (typeof value === 'string' ? value : canonicalJson(value));
  if (/binary/.test(dtype)) return toBase64;
  if (/^(?:u?int|float)/.test(dtype)) return (value) => bitOf(value) ?? toNumber(value);
  if (dtype.startsWith('decimal')) return toNumber;
  if (dtype === 'bool') return (value) => toBit(value) ?? toBoolean(value);
  const time = parseTimeType(dtype);
  if (time === null) return (value) => value;
  const { kind, unit, zone } = time;
  if (kind === 'timestamp') return castToTimestamp(unit, zone, isCsv);
  const converted = kind === 'duration' ? durationSeconds : timeOfDay;
  return (value) => {
    const count = wholeOf(value, isCsv);
    return count === null ? value : (converted(count, unit) ?? value);
  };
}

/** Whole numbers count the unit from 1970; texts without a zone are in UTC, as with Arrow. */
function castToTimestamp(unit: TimeUnit, zone: string | undefined, isCsv: boolean): Convert {
  const toZone = zone === undefined ? (text: string) => text : compileZone(zone);
  const nanos = nanosOf(unit);
  return (value) => {
    const text = typeof value === 'string' ? completeTimestamp(value) : null;
    if (text !== null) return toZone(text);
    const count = wholeOf(value, isCsv);
    return count === null ? value : toZone(isoTimestamp(count * nanos));
  };
}

/** The value of a JSON text; a text that is not JSON stays a text. */
export function jsonOrText(text: string): JsonValue {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}

function wholeOf(value: JsonValue, isCsv: boolean): bigint | null {
  const number = isCsv && typeof value === 'string' ? toNumber(value) : value;
  const text = number instanceof ExactNumber ? number.text : typeof number === 'number' ? String(number) : '';
  return isInt64(text) ? BigInt(text) : null;
}

function toBit(value: JsonValue): boolean | null {
  if (value === 1 || value === '1') return true;
  return value === 0 || value === '0' ? false : null;
}

function bitOf(value: JsonValue): number | null {
  const truth = toBoolean(value);
  return typeof truth === 'boolean' ? Number(truth) : null;
}

function toBase64(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !value.isWellFormed()) return value;
  return encodeBase64(new TextEncoder().encode(value));
}

/** The name of a label, from its number or its name; null for -1. */
function toLabel(value: JsonValue, names: readonly string[]): JsonValue {
  if (typeof value === 'string' && names.includes(value)) return value;
  const number = toNumber(value);
  if (number === -1) return null;
  return typeof number === 'number' ? (names[number] ?? value) : value;
}

function mapMembers(value: JsonValue, convert: (name: string, value: JsonValue) => JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const object: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    setMember(object, name, inner === null ? null : convert(name, inner));
  }
  return object;
}
