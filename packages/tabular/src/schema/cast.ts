import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import { completeTimestamp } from './complete-timestamp.ts';
import type { Feature } from './features.ts';
import { csvNumber } from './infer-csv.ts';

/** Converts the values of a column. */
export type Convert = (value: JsonValue) => JsonValue;

/** A row with all columns, and the further members of the given row. */
export function toRow(row: JsonObject, columns: readonly { name: string; convert: Convert }[]): JsonObject {
  const typed: JsonObject = {};
  for (const { name, convert } of columns) {
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
  if (!hasTimestamps(feature)) return (value) => value;
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

function hasTimestamps(feature: Feature): boolean {
  if (feature.kind === 'list') return hasTimestamps(feature.item);
  if (feature.kind === 'struct') return feature.fields.some((field) => hasTimestamps(field.feature));
  return feature.kind === 'value' && feature.dtype.startsWith('timestamp');
}

function toTimestamp(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (completeTimestamp(value) ?? value) : value;
}

/** Converts CSV fields of an inferred type. */
export function parseField(feature: Feature): Convert {
  const dtype = feature.kind === 'value' ? feature.dtype : 'string';
  if (/^(?:u?int|float)/.test(dtype)) return toNumber;
  if (dtype === 'bool') return toBoolean;
  return (value) => value;
}

function toNumber(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const number = csvNumber(value);
  return number === undefined ? value : number;
}

function toBoolean(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  return /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value;
}

/** Converts JSON values or CSV fields to a declared type. */
export function castTo(feature: Feature): Convert {
  switch (feature.kind) {
    case 'value':
      return castToValue(feature.dtype);
    case 'class_label':
      return (value) => toLabel(value, feature.names);
    case 'list': {
      const item = castTo(feature.item);
      return (value) =>
        Array.isArray(value) ? value.map((inner) => (inner === null ? null : item(inner))) : value;
    }
    case 'struct': {
      const fields = feature.fields.map(({ name, feature: inner }) => ({ name, convert: castTo(inner) }));
      return (value) => (isJsonObject(value) ? toRow(value, fields) : value);
    }
    case 'media':
      return (value) => (typeof value === 'string' ? { bytes: null, path: value } : value);
    case 'json':
      return (value) => (typeof value === 'string' ? toJson(value) : value);
    default:
      return (value) => value;
  }
}

function castToValue(dtype: string): Convert {
  if (/string/.test(dtype)) return (value) => (typeof value === 'string' ? value : canonicalJson(value));
  if (/^(?:u?int|float|decimal)/.test(dtype)) return toNumber;
  if (dtype === 'bool') return toBoolean;
  if (dtype.startsWith('timestamp')) return toTimestamp;
  return (value) => value;
}

/** The name of a label, from its number or its name; null for -1. */
function toLabel(value: JsonValue, names: readonly string[]): JsonValue {
  if (typeof value === 'string' && names.includes(value)) return value;
  const number = toNumber(value);
  if (number === -1) return null;
  return typeof number === 'number' ? (names[number] ?? value) : value;
}

function toJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function mapMembers(value: JsonValue, convert: (name: string, value: JsonValue) => JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const object: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    setMember(object, name, inner === null ? null : convert(name, inner));
  }
  return object;
}
