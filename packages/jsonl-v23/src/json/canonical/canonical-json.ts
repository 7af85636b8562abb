import { JsonlError } from '../../errors.ts';
import { jsonPointer } from '../../source-location.ts';
import { ASCII } from '../ascii.ts';
import { canonicalNumber } from '../canonical-number.ts';
import { ExactNumber, type JsonInput, type JsonObject, type JsonValue } from '../json-value.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

let spareWriter: CanonicalWriter | null = null;

/**
 * The canonical text of a value: RFC 8785 (JCS), with numbers as `canonicalNumber` writes them.
 *
 * - no white space (section 3.2.1), members sorted by the UTF-16 code units of their names (3.2.3);
 * - strings as 3.2.2.2; a lone surrogate, which RFC 8785 does not cover, is written as its lower-case `\udxxx` escape, so
 *   that the text is always well-formed and has one UTF-8 form;
 * - a `bigint` is written as the integer literal it is.
 *
 * @throws JsonlError `invalid_json` with the JSON Pointer of a value that JSON cannot hold: NaN, infinities, undefined,
 * functions, and instances of classes such as `Date` and `Map`; `nesting_too_deep` beyond 1,024 levels
 *
 * @example canonicalJson({ b: 1.0, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalJson(value: JsonInput): string {
  return withWriter((writer) => {
    writer.write(value);
    return writer.text(0, writer.length);
  });
}

/** Lends an empty writer, which is kept for its buffer: a getter of what is written may ask for another one. */
export function withWriter<T>(use: (writer: CanonicalWriter) => T): T {
  const writer = spareWriter ?? new CanonicalWriter();
  spareWriter = null;
  try {
    return use(writer);
  } finally {
    writer.maxBytes = Number.POSITIVE_INFINITY;
    writer.clear();
    spareWriter = writer;
  }
}

const { QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;

/** The writer recurses and the stack is finite, so deeper values are refused. */
const MAX_WRITE_DEPTH = 1024;
/** Up to this length, a loop over a string without escapes takes less time than a call of `JSON.stringify`. */
const SHORT_UNITS = 48;
/** A longer string is written in steps of this many UTF-16 code units, so that a bound of the buffer ends it early. */
const STEP_UNITS = 1024 * 1024;

/** Up to this number of keys, insertion is faster than `Array.prototype.sort`. */
const FEW_KEYS = 16;

/** Is called for each member of an object, in canonical order, with the positions of its key, its value and its end. */
export type MemberListener = (key: string, start: number, valueStart: number, end: number) => void;

/** Writes canonical JSON (see `canonicalJson`) as UTF-8, one value after another. */
export class CanonicalWriter extends Utf8Buffer {
  /**
   * Writes a value.
   *
   * @throws JsonlError `invalid_json` and `nesting_too_deep` as `canonicalJson` does
   */
  write(value: JsonInput): void {
    try {
      this.#writeValue(value as JsonValue, MAX_WRITE_DEPTH);
    } catch (error) {
      throw error === UNWRITABLE ? unwritableError(value) : error;
    }
  }

  /**
   * Writes an object, and reports where its members are.
   *
   * @throws JsonlError as `write` does
   */
  writeObject(object: JsonObject, onMember: MemberListener): void {
    try {
      this.#writeObject(object, MAX_WRITE_DEPTH, onMember);
    } catch (error) {
      throw error === UNWRITABLE ? unwritableError(object) : error;
    }
  }

  #writeValue(value: JsonValue | bigint, depthLeft: number): void {
    if (typeof value === 'string') this.#writeString(value);
    else if (typeof value === 'number') this.#writeNumber(value);
    else if (value === null) this.writeAscii('null');
    else if (typeof value === 'boolean') this.writeAscii(value ? 'true' : 'false');
    else if (typeof value === 'bigint') this.writeAscii(canonicalNumber(value.toString()));
    else if (Array.isArray(value)) this.#writeArray(value, depthLeft);
    else if (isPlainObject(value)) this.#writeObject(value, depthLeft, null);
    else if (value instanceof ExactNumber) this.writeAscii(value.text);
    else throw UNWRITABLE;
  }

  #writeArray(values: readonly JsonValue[], depthLeft: number): void {
    if (depthLeft === 0) throw tooDeep();
    this.writeByte(OPEN_BRACKET);
    for (let index = 0; index < values.length; index++) {
      if (index > 0) this.writeByte(COMMA);
      this.#writeValue(values[index] as JsonValue, depthLeft - 1);
    }
    this.writeByte(CLOSE_BRACKET);
  }

  #writeObject(object: JsonObject, depthLeft: number, onMember: MemberListener | null): void {
    if (depthLeft === 0) throw tooDeep();
    const keys = sortedKeys(object);
    this.writeByte(OPEN_BRACE);
    for (let index = 0; index < keys.length; index++) {
      if (index > 0) this.writeByte(COMMA);
      const key = keys[index] as string;
      const start = this.length;
      this.#writeString(key);
      this.writeByte(COLON);
      const valueStart = this.length;
      this.#writeValue(object[key] as JsonValue, depthLeft - 1);
      onMember?.(key, start, valueStart, this.length);
    }
    this.writeByte(CLOSE_BRACE);
  }

  /** RFC 8785 section 3.2.2.3: the ECMAScript form. */
  #writeNumber(value: number): void {
    if (this.writeDecimal(value)) return;
    if (!Number.isFinite(value)) throw UNWRITABLE;
    this.writeAscii(String(value));
  }

  /** RFC 8785 section 3.2.2.2: the ECMAScript form, which also has one for lone surrogates. */
  #writeString(text: string): void {
    if (text.length <= SHORT_UNITS && this.writePlain(text)) return;
    if (text.length <= STEP_UNITS) {
      this.writeJson(JSON.stringify(text));
      return;
    }
    this.writeByte(QUOTE);
    for (let from = 0; from < text.length; ) {
      let to = from + STEP_UNITS;
      if (isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
      this.writeJson(JSON.stringify(text.slice(from, to)).slice(1, -1));
      from = to;
    }
    this.writeByte(QUOTE);
  }
}

/** RFC 8785 section 3.2.3: in the order of UTF-16 code units, as comparison and `Array.prototype.sort` have it. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as string;
    let to = index;
    for (; to > 0 && (keys[to - 1] as string) > key; to--) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return keys;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function tooDeep(): JsonlError {
  return new JsonlError('nesting_too_deep', `The value is nested more than ${MAX_WRITE_DEPTH} levels deep`);
}

/** What the writer throws at a value that JSON cannot hold; {@link unwritableError} finds out where and what it is. */
const UNWRITABLE = Symbol('a value that JSON cannot hold');

/**
 * Whether a value is an object of plain members. A `Date`, a `Map` or an instance of another class is not: its members
 * are not what it means, so writing them would lose data.
 */
function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // `Object.prototype` of another realm
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty');
}

/** The error about the first value, in canonical order, that JSON cannot hold, with its JSON Pointer. */
function unwritableError(root: unknown): JsonlError {
  const path: (string | number)[] = [];
  const found = findUnwritable(root, path);
  return new JsonlError(
    'invalid_json',
    `Cannot write ${describe(found)} as JSON`,
    path.length === 0 ? {} : { path: jsonPointer(path) },
  );
}

/** Leaves the way to the value in `path`; undefined if there is none but undefined itself. */
function findUnwritable(value: unknown, path: (string | number)[]): unknown {
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) return isWritable(value) ? NOTHING : value;
  const keys = isArray ? value.keys() : Object.keys(value).sort();
  for (const key of keys) {
    path.push(key);
    const found = findUnwritable((value as Record<string | number, unknown>)[key], path);
    if (found !== NOTHING) return found;
    path.pop();
  }
  return NOTHING;
}

const NOTHING: unique symbol = Symbol('nothing');

function isWritable(value: unknown): boolean {
  if (value === null || value instanceof ExactNumber) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint';
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return `a value of type ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an instance of a class';
}
