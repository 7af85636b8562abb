import {
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseNumber,
} from '@svc/jsonl-v23/json';
import type { RawRow } from '../text/raw-row.ts';
import { type Feature, type Features, valueFeature } from './features.ts';

/** What the values of one place in JSON rows have been so far. */
interface JsonShape {
  bool: boolean;
  int: boolean;
  float: boolean;
  /** Texts: all of them moments in time, or not. */
  text: 'none' | 'times' | 'any';
  /** Items of lists; null while there are none. */
  items: JsonShape | null;
  /** Members of objects; null while there are none. */
  members: Map<string, JsonShape> | null;
  /** Objects that are empty or have other keys than the first one. */
  unlike: boolean;
}

/**
 * Infers the columns of JSON rows as the hub's own loader does within one block, and for all rows alike: int64, with a
 * fraction or beyond 64 bits float64; texts that are all dates or times of day timestamp[s], else string; lists and
 * structs by their contents; objects whose keys differ, and values of different kinds, json; nothing but nulls null.
 * Columns of all rows are united, in the order in which they are met.
 */
export class JsonInference {
  readonly #columns = new Map<string, JsonShape>();

  add({ row, text }: Pick<RawRow, 'row' | 'text'>): void {
    for (const [name, value] of Object.entries(text === undefined ? row : markFloats(row, text))) {
      let shape = this.#columns.get(name);
      if (shape === undefined) {
        shape = emptyShape();
        this.#columns.set(name, shape);
      }
      note(shape, value);
    }
  }

  features(): Features {
    return [...this.#columns].map(([name, shape]) => ({ name, feature: toFeature(shape) }));
  }
}

/** No limit: the text has been parsed before. */
const MAX_DEPTH = 1000;
/** A whole number written with a fraction or an exponent: `1.0`, `2e3`. Texts may match too, which only costs time. */
const WHOLE_FLOAT = /[0-9]\.0+(?![0-9])|[0-9]\.?[eE]/;

/** The row with a number in place of 1.0 and its like that is seen to be a float; the row itself where there are none. */
function markFloats(row: JsonObject, text: string): JsonObject {
  if (!WHOLE_FLOAT.test(text)) return row;
  const toNumber = (literal: string): JsonValue => (/[.eE]/.test(literal) ? 0.5 : parseNumber(literal));
  return parseJson(text, { maxDepth: MAX_DEPTH, toNumber }) as JsonObject;
}

function emptyShape(): JsonShape {
  return { bool: false, int: false, float: false, text: 'none', items: null, members: null, unlike: false };
}

function note(shape: JsonShape, value: JsonValue): void {
  if (value === null) return;
  if (typeof value === 'string') {
    if (shape.text !== 'any') shape.text = isoMoment(value) === null ? 'any' : 'times';
  } else if (typeof value === 'boolean') {
    shape.bool = true;
  } else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) shape.int = true;
    else shape.float = true;
  } else if (value instanceof ExactNumber) {
    if (isInt64(value.text)) shape.int = true;
    else shape.float = true;
  } else if (Array.isArray(value)) {
    shape.items ??= emptyShape();
    for (const item of value) note(shape.items, item);
  } else if (isJsonObject(value)) {
    noteObject(shape, value);
  }
}

function noteObject(shape: JsonShape, value: JsonObject): void {
  const keys = Object.keys(value);
  const first = shape.members === null;
  shape.members ??= new Map();
  if (
    keys.length === 0 ||
    (!first && (keys.length !== shape.members.size || !keys.every((key) => shape.members!.has(key))))
  ) {
    shape.unlike = true;
  }
  // Of unlike objects nothing more needs to be known.
  if (shape.unlike) return;
  for (const key of keys) {
    const member = shape.members.get(key) ?? emptyShape();
    shape.members.set(key, member);
    note(member, value[key]!);
  }
}

function toFeature(shape: JsonShape): Feature {
  const number = shape.int || shape.float;
  const kinds = [shape.bool, number, shape.text !== 'none', shape.items !== null, shape.members !== null];
  const count = kinds.filter(Boolean).length;
  if (count === 0) return valueFeature('null');
  if (count > 1 || shape.unlike) return { kind: 'json' };
  if (shape.bool) return valueFeature('bool');
  if (number) return valueFeature(shape.float ? 'float64' : 'int64');
  if (shape.text !== 'none') return valueFeature(shape.text === 'times' ? 'timestamp[s]' : 'string');
  if (shape.items !== null) return { kind: 'list', item: toFeature(shape.items), length: null, large: false };
  return {
    kind: 'struct',
    fields: [...shape.members!].map(([name, member]) => ({ name, feature: toFeature(member) })),
  };
}

/** What the fields of one CSV column have been so far. */
interface CsvShape {
  null: boolean;
  int: boolean;
  /** Whole numbers beyond int64 that fit 64 bits without a sign. */
  uint: boolean;
  negative: boolean;
  /** Whole numbers beyond that. */
  long: boolean;
  float: boolean;
  bool: boolean;
  text: boolean;
}

/**
 * Infers the columns of CSV rows as pandas does, over all rows alike: int64 (uint64 beyond it), float64 where there are
 * fractions or gaps, bool, else string. A column of nothing is float64. Dates stay texts, leading zeros are lost.
 */
export class CsvInference {
  readonly #columns = new Map<string, CsvShape>();

  add({ row }: Pick<RawRow, 'row'>): void {
    for (const [name, value] of Object.entries(row)) {
      let shape = this.#columns.get(name);
      if (shape === undefined) {
        shape = {
          null: false,
          int: false,
          uint: false,
          negative: false,
          long: false,
          float: false,
          bool: false,
          text: false,
        };
        this.#columns.set(name, shape);
      }
      noteField(shape, value);
    }
  }

  features(): Features {
    return [...this.#columns].map(([name, shape]) => ({ name, feature: valueFeature(csvDtype(shape)) }));
  }
}

function noteField(shape: CsvShape, value: JsonValue): void {
  if (typeof value !== 'string') {
    shape.null = true;
    return;
  }
  const kind = csvKind(value);
  shape[kind] = true;
  if (kind === 'int' && value.includes('-')) shape.negative = true;
}

function csvDtype(shape: CsvShape): string {
  if (shape.text) return 'string';
  const number = shape.int || shape.uint || shape.long || shape.float;
  if (shape.bool) return number ? 'string' : 'bool';
  if (shape.float) return 'float64';
  // A column of whole numbers some of which fit no machine word keeps their texts.
  if (shape.long || (shape.uint && shape.negative)) return 'string';
  if (!number || shape.null) return 'float64';
  return shape.uint ? 'uint64' : 'int64';
}

/** What pandas would take a field for, by itself. */
export function csvKind(text: string): 'int' | 'uint' | 'long' | 'float' | 'bool' | 'text' {
  if (/^-?[0-9]{1,15}$/.test(text)) return 'int';
  if (/^(?:True|TRUE|true|False|FALSE|false)$/.test(text)) return 'bool';
  if (/^[ \t]*[+-]?[0-9]+[ \t]*$/.test(text)) {
    const digits = text.trim();
    if (isInt64(digits.replace(/^\+/, ''))) return 'int';
    const value = BigInt(digits.replace(/^\+/, ''));
    return value >= 0n && value < 1n << 64n ? 'uint' : 'long';
  }
  return csvNumber(text) === undefined ? 'text' : 'float';
}

/** The number that a CSV field holds: null for infinities, undefined where it is no number. */
export function csvNumber(text: string): JsonValue | undefined {
  // What nearly every field is needs no more than this.
  if (/^(?:0|-?[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  const trimmed = text.trim();
  if (/^[+-]?inf(?:inity)?$/i.test(trimmed)) return null;
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/.exec(trimmed);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const integer = whole.replace(/^0+(?=[0-9])/, '') || '0';
  const literal = `${sign === '-' ? '-' : ''}${integer}${fraction === '' ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`;
  try {
    return parseNumber(literal);
  } catch {
    // More digits than any number is given here.
    return undefined;
  }
}

/**
 * The moment that a text is, in the form of timestamp[s], or null where it is none. Accepted are the forms in which the
 * loader's JSON reader finds times of whole seconds without a zone: a date, or a date and hours, minutes, seconds.
 *
 * @example isoMoment('2020-01-01') // '2020-01-01T00:00:00'
 */
export function isoMoment(text: string): string | null {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2}))?)?)?$/.exec(
    text,
  );
  if (match === null) return null;
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00'] = match;
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1) return null;
  if (Number(day) > daysInMonth(Number(year), Number(month))) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}`;
}

function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isInt64(text: string): boolean {
  if (!/^-?[0-9]{1,19}$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}
