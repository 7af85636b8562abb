import { JsonlError } from '../errors.ts';
import { checkNumber } from '../options.ts';
import type { SourceLocation } from '../source-location.ts';
import { ASCII } from './ascii.ts';
import { canonicalNumber } from './canonical-number.ts';
import { describeText } from './describe.ts';
import { JsonTokenizer, type NumberReader } from './json-tokenizer.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

const { QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;
const { MINUS, ZERO, NINE, LOWER_F, LOWER_N, LOWER_T } = ASCII;

/** Levels of nesting that are read by default. */
export const DEFAULT_MAX_DEPTH = 256;
/** The parser recurses and the stack is finite, so no caller can allow more levels than this. */
export const HIGHEST_MAX_DEPTH = 1000;

/** Options of `parseJson`. */
export interface ParseJsonOptions {
  /** Levels of arrays and objects inside one another; default 256, at most 1,000, whatever is given. */
  readonly maxDepth?: number;
  /** Where the text begins. Errors have its `file`, and count `line`, `column` and `path` from it. */
  readonly location?: SourceLocation;
  /** Turns the literal of each number into a value; default `parseNumber`. */
  readonly toNumber?: (literal: string) => JsonValue;
}

/**
 * Parses one JSON text: RFC 8259 and nothing else (no comments, NaN, trailing commas, byte order mark).
 *
 * Nothing is lost: numbers that a double would round become `ExactNumber`, `__proto__` and its like become own
 * members, and `\u0000` and lone surrogates are kept. A duplicate key in one object is an error, because keeping one
 * of the two members would lose the other.
 *
 * Errors have `line` and `column` (1-based, UTF-16 code units) and `path`: the JSON Pointer of the invalid value, or
 * of the array or object in which a key or a comma is. Depth is checked before the parser recurses.
 *
 * @throws JsonlError `invalid_json`, `duplicate_key`, `nesting_too_deep`, `number_too_long`; TypeError, RangeError for an
 *   option that does not exist or cannot be
 *
 * @example parseJson('{"id":12345678901234567890}') // { id: ExactNumber('12345678901234567890') }
 * @example parseJson('[1.0]', { toNumber: (literal) => literal }) // ['1.0']
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): JsonValue {
  const { maxDepth, toNumber, location } = options;
  if (maxDepth !== Number.POSITIVE_INFINITY) checkNumber('maxDepth', maxDepth, { min: 0 });
  if (toNumber !== undefined && typeof toNumber !== 'function')
    throw new TypeError(`toNumber must be a function, got a value of the type ${typeof toNumber}.`);
  return new JsonReader(text, maxDepth, toNumber).read(0, text.length, location ?? {});
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonlError) return undefined;
    throw error;
  }
}

/** Parses texts, or ranges of one. Caches keys: texts of one shape cost one comparison per key and no new strings. */
export class JsonReader extends JsonTokenizer {
  readonly #maxDepth: number;
  readonly #root: CachedKey = new CachedKey('', '');

  constructor(text: string, maxDepth: number = DEFAULT_MAX_DEPTH, toNumber?: NumberReader) {
    super(text, toNumber === undefined ? null : validated(toNumber));
    this.#maxDepth = Math.min(maxDepth, HIGHEST_MAX_DEPTH);
  }

  use(text: string): void {
    this.text = text;
  }

  /** Reads the one value between `start` and `end`, which is the end of the string or the index of a line feed. */
  read(start: number, end: number, location: SourceLocation): JsonValue {
    const value = this.readFirst(start, end, location);
    const rest = this.skipWhitespace(this.position);
    if (rest < end) throw this.unexpected('the end of the text', rest, 0);
    return value;
  }

  /** Reads the first value between `start` and `end`. `position` is then the index after it. */
  readFirst(start: number, end: number, location: SourceLocation): JsonValue {
    this.select(start, end, location);
    return this.#readValue(this.skipWhitespace(start), this.#root);
  }

  #readValue(position: number, parent: CachedKey): JsonValue {
    const code = this.text.charCodeAt(position);
    switch (code) {
      case QUOTE:
        return this.readString(position, this.depth);
      case OPEN_BRACE:
        return this.#readObject(position, parent);
      case OPEN_BRACKET:
        return this.#readArray(position, parent);
      case LOWER_T:
        return this.readWord(position, 'true', true);
      case LOWER_F:
        return this.readWord(position, 'false', false);
      case LOWER_N:
        return this.readWord(position, 'null', null);
    }
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.readNumber(position);
    throw this.unexpected('a value', position, this.depth);
  }

  #readObject(open: number, parent: CachedKey): JsonObject {
    const { text } = this;
    const depth = this.#enter(open);
    const object: JsonObject = {};
    parent.inner ??= new CachedKey('', '');
    let cached = parent.inner;

    let position = this.skipWhitespace(open + 1);
    if (text.charCodeAt(position) === CLOSE_BRACE) return this.#leave(object, depth, position);
    for (;;) {
      if (text.charCodeAt(position) !== QUOTE) {
        throw this.unexpected('a key in double quotes', position, depth);
      }
      cached = this.#readKey(position, cached, depth);
      const { key } = cached;
      if (Object.hasOwn(object, key)) {
        throw this.error('duplicate_key', `Duplicate key ${describeText(key)}`, position, depth);
      }
      this.path[depth] = key;

      position = this.skipWhitespace(this.position);
      if (text.charCodeAt(position) !== COLON) throw this.unexpected('":"', position, depth);
      const value = this.#readValue(this.skipWhitespace(position + 1), cached);
      if (key === '__proto__') {
        // Assigning would set the prototype.
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[key] = value;
      }

      position = this.skipWhitespace(this.position);
      const code = text.charCodeAt(position);
      if (code === CLOSE_BRACE) return this.#leave(object, depth, position);
      if (code !== COMMA) throw this.unexpected('"," or "}"', position, depth);
      position = this.skipWhitespace(position + 1);
    }
  }

  #readArray(open: number, parent: CachedKey): JsonValue[] {
    const { text } = this;
    const depth = this.#enter(open);
    const values: JsonValue[] = [];

    let position = this.skipWhitespace(open + 1);
    if (text.charCodeAt(position) === CLOSE_BRACKET) return this.#leave(values, depth, position);
    for (;;) {
      this.path[depth] = values.length;
      values.push(this.#readValue(position, parent));

      position = this.skipWhitespace(this.position);
      const code = text.charCodeAt(position);
      if (code === CLOSE_BRACKET) return this.#leave(values, depth, position);
      if (code !== COMMA) throw this.unexpected('"," or "]"', position, depth);
      position = this.skipWhitespace(position + 1);
    }
  }

  /** Opens an array or object and returns the depth outside it. */
  #enter(position: number): number {
    const { depth } = this;
    if (!(depth < this.#maxDepth)) {
      const problem = `The value is nested more than ${this.#maxDepth} levels deep`;
      throw this.error('nesting_too_deep', problem, position, depth);
    }
    this.depth = depth + 1;
    return depth;
  }

  #leave<T extends JsonValue>(container: T, depth: number, position: number): T {
    this.depth = depth;
    this.position = position + 1;
    return container;
  }

  /** The key at `open`: one that followed `previous` before, or else a new one, which is cached. */
  #readKey(open: number, previous: CachedKey, depth: number): CachedKey {
    const { next, other } = previous;
    if (next !== null && this.text.startsWith(next.quoted, open)) {
      this.position = open + next.quoted.length;
      return next;
    }
    if (other !== null && this.text.startsWith(other.quoted, open)) {
      this.position = open + other.quoted.length;
      return other;
    }
    const key = this.readString(open, depth);
    const cached = new CachedKey(key, this.text.slice(open, this.position));
    previous.other = next;
    previous.next = cached;
    return cached;
  }
}

/** Checks literals before a caller's function gets them. */
function validated(toNumber: NumberReader): NumberReader {
  return (literal) => {
    canonicalNumber(literal);
    return toNumber(literal);
  };
}

/** A key as written, and those that followed it: for objects of one shape, reading a key is one comparison. */
class CachedKey {
  readonly key: string;
  readonly quoted: string;
  /** The two keys that followed this one last, the newest first. */
  next: CachedKey | null = null;
  other: CachedKey | null = null;
  /** Precedes the first key of the objects that are values of this key. */
  inner: CachedKey | null = null;

  constructor(key: string, quoted: string) {
    this.key = key;
    this.quoted = quoted;
  }
}
