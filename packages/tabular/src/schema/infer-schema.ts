import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import type { DataFormat } from '../format.ts';
import { applyDeclared } from '../parquet/parquet-features.ts';
import type { RawRow } from '../text/raw-row.ts';
import { type Feature, type Features, valueFeature } from './features.ts';
import { CsvInference, csvNumber, isoMoment, JsonInference } from './infer-features.ts';

/** Formats whose files do not say what types their columns have. */
export type TextFormat = Exclude<DataFormat, 'parquet'>;

/** What columns there are, and how rows become rows of these columns. */
export interface RowTyping {
  features: Features;
  /** A row with a value for every column (null where the file has none), and what else the file's row holds. */
  toRow(row: JsonObject): JsonObject;
}

/** Finds the types of columns from rows, then types rows. */
export interface TypingBuilder {
  add(row: RawRow): void;
  finish(): RowTyping;
}

/** How much is looked at to find the types of columns: so many characters, but no more than so many rows. */
export const TYPING_WINDOW_SIZE: number = 4 * 1024 * 1024;
export const TYPING_WINDOW_ROWS = 20_000;

/**
 * Types of text files are found by looking at rows before any is given out, and a stream is read once, so there is a
 * window: rows that `add` saw decide, later rows follow. To keep this from changing anything, a type changes a value in
 * few places only, and all others stay as they are written:
 *
 * - JSON: texts of a timestamp[s] column are completed (`2020-01-01` is `2020-01-01T00:00:00`). Nothing else changes:
 *   int64 and float64, structs and json are names for the same values. Missing columns are null.
 * - CSV: texts become numbers or booleans where the column is numeric or boolean.
 * - Columns that the dataset card declares are cast to the declared type where the value allows it.
 *
 * A later value that contradicts its column's type is no error and stays as it is written, so what depends on the window is
 * this: a CSV column that looked numeric in the window and has text behind it, and a JSON column whose texts were all
 * moments in the window and something else behind it. Their rows inside the window have the narrow form.
 *
 * Rows of other files (their first ones) may be added too, before any is typed: their columns then count as well.
 *
 * @param declared features of the dataset card, which go before what is found
 */
export function createInference(format: TextFormat, declared: Features | null = null): TypingBuilder {
  const inference = format === 'json' ? new JsonInference() : format === 'csv' ? new CsvInference() : null;
  const declaredNames = new Set(declared?.map(({ name }) => name));
  return {
    add: (row) => inference?.add(row),
    finish: () => {
      const found = inference?.features() ?? [{ name: 'text', feature: valueFeature('string') }];
      const features = withDeclared(found, declared);
      const columns = features.map(({ name, feature }) => ({
        name,
        convert: declaredNames.has(name)
          ? castTo(feature)
          : format === 'csv'
            ? typeField(feature)
            : typeJson(feature),
      }));
      return { features, toRow: (row) => toRow(row, columns) };
    },
  };
}

/** A declared type goes before a found one whatever was found; declared columns that no row has are added. */
function withDeclared(found: Features, declared: Features | null): Features {
  const open = found.map(({ name }) => ({ name, feature: valueFeature('null') }));
  const overlaid = applyDeclared(open, declared, { addMissing: true });
  const types = new Map(found.map(({ name, feature }) => [name, feature]));
  const names = new Set(declared?.map(({ name }) => name));
  return overlaid.map((column) => {
    const type = types.get(column.name);
    return names.has(column.name) || type === undefined ? column : { name: column.name, feature: type };
  });
}

type Convert = (value: JsonValue) => JsonValue;

function toRow(row: JsonObject, columns: readonly { name: string; convert: Convert }[]): JsonObject {
  const typed: JsonObject = {};
  for (const { name, convert } of columns) {
    const value = Object.hasOwn(row, name) ? row[name]! : null;
    setMember(typed, name, value === null ? null : convert(value));
  }
  for (const [name, value] of Object.entries(row)) {
    if (!Object.hasOwn(typed, name)) setMember(typed, name, value);
  }
  return typed;
}

/** JSON values of an inferred type: only moments change. */
function typeJson(feature: Feature): Convert {
  if (!holdsMoments(feature)) return (value) => value;
  if (feature.kind === 'list') {
    const item = typeJson(feature.item);
    return (value) =>
      Array.isArray(value) ? value.map((inner) => (inner === null ? null : item(inner))) : value;
  }
  if (feature.kind === 'struct') {
    const fields = new Map(feature.fields.map(({ name, feature: inner }) => [name, typeJson(inner)]));
    return (value) => mapMembers(value, (name, inner) => fields.get(name)?.(inner) ?? inner);
  }
  return moment;
}

function holdsMoments(feature: Feature): boolean {
  if (feature.kind === 'list') return holdsMoments(feature.item);
  if (feature.kind === 'struct') return feature.fields.some((field) => holdsMoments(field.feature));
  return feature.kind === 'value' && feature.dtype.startsWith('timestamp');
}

function moment(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (isoMoment(value) ?? value) : value;
}

/** CSV fields of an inferred type. */
function typeField(feature: Feature): Convert {
  const dtype = feature.kind === 'value' ? feature.dtype : 'string';
  if (/^(?:u?int|float)/.test(dtype)) return numberOf;
  if (dtype === 'bool') return booleanOf;
  return (value) => value;
}

function numberOf(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const number = csvNumber(value);
  return number === undefined ? value : number;
}

function booleanOf(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  if (/^(?:True|TRUE|true)$/.test(value)) return true;
  return /^(?:False|FALSE|false)$/.test(value) ? false : value;
}

/** Values of a declared type, from JSON or from CSV. */
function castTo(feature: Feature): Convert {
  switch (feature.kind) {
    case 'value':
      return castToValue(feature.dtype);
    case 'class_label':
      return (value) => labelOf(value, feature.names);
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
      return (value) => (typeof value === 'string' ? jsonOf(value) : value);
    default:
      return (value) => value;
  }
}

function castToValue(dtype: string): Convert {
  if (/string/.test(dtype)) return (value) => (typeof value === 'string' ? value : canonicalJson(value));
  if (/^(?:u?int|float|decimal)/.test(dtype)) return numberOf;
  if (dtype === 'bool') return booleanOf;
  if (dtype.startsWith('timestamp')) return moment;
  return (value) => value;
}

/** A label's name, of its number or of itself; -1 is no label. */
function labelOf(value: JsonValue, names: readonly string[]): JsonValue {
  if (typeof value === 'string' && names.includes(value)) return value;
  const number = numberOf(value);
  if (number === -1) return null;
  return typeof number === 'number' ? (names[number] ?? value) : value;
}

function jsonOf(text: string): JsonValue {
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
