import {
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseNumber,
} from '@svc/jsonl-v23/json';
import { checkColumnCount } from '../errors.ts';
import { isInt64 } from '../scalars/numbers.ts';
import { completeTimestamp } from '../scalars/times.ts';
import type { RawRow } from '../text/raw-row.ts';
import { type Feature, type Features, listOf, valueFeature } from './features.ts';
import type { Inference } from './infer-schema.ts';

interface JsonShape {
  bool: boolean;
  int: boolean;
  float: boolean;
  /** Whether there are texts, and whether all are timestamps. */
  text: 'none' | 'timestamps' | 'any';
  items: JsonShape | null;
  members: Map<string, JsonShape> | null;
  /** Whether an object is empty or has other keys than the first one. */
  isIrregular: boolean;
}

/**
 * Infers the columns of JSON rows as the `datasets` library does within one block, and for all rows alike: int64, or
 * float64 with a fraction or beyond 64 bits; timestamp[s] for texts that are all dates or times, else string; lists and
 * structs by their contents; json for objects whose keys differ and for values of different kinds; null for nulls only.
 * The columns of all rows appear in the order in which they are found.
 */
export class JsonInference implements Inference<RawRow> {
  readonly isCsv = false;
  readonly #columns = new Map<string, JsonShape>();
  #nonNumbers = 0;

  add({ row, text, nonNumbers = 0 }: Pick<RawRow, 'row' | 'text' | 'nonNumbers'>): void {
    this.#nonNumbers += nonNumbers;
    for (const [name, value] of Object.entries(text === undefined ? row : markFloats(row, text))) {
      let shape = this.#columns.get(name);
      if (shape === undefined) {
        checkColumnCount(this.#columns.size + 1);
        shape = emptyShape();
        this.#columns.set(name, shape);
      }
      note(shape, value);
    }
  }

  valueOf({ row }: RawRow, name: string): JsonValue | undefined {
    return Object.hasOwn(row, name) ? row[name] : undefined;
  }

  features(): Features {
    return [...this.#columns].map(([name, shape]) => ({ name, feature: toFeature(shape) }));
  }

  warnings(): string[] {
    return this.#nonNumbers === 0
      ? []
      : [`NaN and infinities are read as null: ${this.#nonNumbers} in the rows that were sampled.`];
  }
}

/** The text has been parsed before, within a limit. */
const MAX_DEPTH = 1000;
/** A whole number with a fraction or an exponent: `1.0`, `2e3`. Strings may match too, which only costs time. */
const WHOLE_FLOAT = /[0-9]\.0+(?![0-9])|[0-9]\.?[eE]/;

/** The row with a fraction in place of 1.0 and its like, so that they count as floats; the row itself if there are none. */
function markFloats(row: JsonObject, text: string): JsonObject {
  if (!WHOLE_FLOAT.test(text)) return row;
  const toNumber = (literal: string): JsonValue => (/[.eE]/.test(literal) ? 0.5 : parseNumber(literal));
  return parseJson(text, { maxDepth: MAX_DEPTH, toNumber }) as JsonObject;
}

function emptyShape(): JsonShape {
  return {
    bool: false,
    int: false,
    float: false,
    text: 'none',
    items: null,
    members: null,
    isIrregular: false,
  };
}

function note(shape: JsonShape, value: JsonValue): void {
  if (value === null) return;
  if (typeof value === 'string') {
    if (shape.text !== 'any') shape.text = completeTimestamp(value) === null ? 'any' : 'timestamps';
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
  const isFirst = shape.members === null;
  shape.members ??= new Map();
  const { members } = shape;
  if (
    keys.length === 0 ||
    (!isFirst && (keys.length !== members.size || !keys.every((key) => members.has(key))))
  ) {
    shape.isIrregular = true;
  }
  // Their members do not matter: the type is json.
  if (shape.isIrregular) return;
  for (const key of keys) {
    const member = members.get(key) ?? emptyShape();
    members.set(key, member);
    note(member, value[key] ?? null);
  }
}

function toFeature(shape: JsonShape): Feature {
  const number = shape.int || shape.float;
  const kinds = [shape.bool, number, shape.text !== 'none', shape.items !== null, shape.members !== null];
  const count = kinds.filter(Boolean).length;
  if (count === 0) return valueFeature('null');
  if (count > 1 || shape.isIrregular) return { kind: 'json' };
  if (shape.bool) return valueFeature('bool');
  if (number) return valueFeature(shape.float ? 'float64' : 'int64');
  if (shape.text !== 'none') return valueFeature(shape.text === 'timestamps' ? 'timestamp[s]' : 'string');
  if (shape.items !== null) return listOf(toFeature(shape.items));
  return {
    kind: 'struct',
    fields: [...(shape.members ?? [])].map(([name, member]) => ({ name, feature: toFeature(member) })),
  };
}
