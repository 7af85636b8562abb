import { JsonlError, type JsonlErrorCode } from '../errors.ts';
import { jsonPointer, type Place } from '../source-location.ts';
import { describeText } from './describe-text.ts';
import { type JsonObject, type JsonValue, parseNumber } from './json-value.ts';

/** Levels of nesting that are read unless the caller says otherwise. */
export const DEFAULT_MAX_DEPTH = 256;
/** Levels that are read whatever the caller says: the reader recurses, and its stack is finite. */
const HIGHEST_MAX_DEPTH = 1000;

/**
 * Parses one JSON text: RFC 8259 and nothing else (no comments, NaN, trailing commas, byte order mark).
 *
 * Nothing is lost: numbers that a double would round become `ExactNumber`, `__proto__` and its like are own
 * members, `\u0000` and lone surrogates stay. A repeated key in one object is an error, as keeping either
 * member would lose the other.
 *
 * `maxDepth` (default 256, at most 1,000) counts arrays and objects inside one another; it is checked before
 * anything recurses. `place` is where the text begins; errors have its `file` and add `line` and `column`
 * (1-based, UTF-16 code units) and `path`: the JSON Pointer of the value at fault, or of the array or object in
 * which a key or a comma is.
 *
 * Throws JsonlError `invalid_json`, `duplicate_key`, `nesting_too_deep`, `number_too_long`.
 *
 * @example parseJson('{"id":12345678901234567890}') // { id: ExactNumber('12345678901234567890') }
 */
export function parseJson(text: string, options: { maxDepth?: number; place?: Place } = {}): JsonValue {
  return new JsonReader(text, options.maxDepth).read(0, text.length, options.place ?? {});
}

/** A key as it was met, quotes and escapes included, and the keys that followed it: the next one is often the same. */
class SeenKey {
  readonly key: string;
  readonly quoted: string;
  /** The two keys that followed this one last. */
  next: SeenKey | null = null;
  other: SeenKey | null = null;
  /** Stands before the first key of the objects that are this key's value. */
  inner: SeenKey | null = null;

  constructor(key: string, quoted: string) {
    this.key = key;
    this.quoted = quoted;
  }
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LOWER_E = 101;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** The highest white space, and the lowest character that needs no escape in a string. */
const SPACE = 32;

/**
 * Reads JSON texts out of one long string, such as the lines of a batch, without cutting them out first. It
 * remembers which key followed which, so that lines of one shape cost one comparison a key and no new strings.
 *
 * The code units behind the end of the string are NaN, which is unequal to everything and falls through to the
 * errors. So does the line feed behind a line, which is no white space there.
 */
export class JsonReader {
  #text: string;
  readonly #maxDepth: number;
  readonly #root: SeenKey = new SeenKey('', '');
  /** For each open array or object the index or key that is being read in it. */
  readonly #path: (string | number)[] = [];
  /** Open arrays and objects. */
  #depth = 0;
  /** Where the value that was read last ends. */
  #position = 0;
  #start = 0;
  #end = 0;
  #place: Place = {};

  constructor(text: string, maxDepth: number = DEFAULT_MAX_DEPTH) {
    this.#text = text;
    this.#maxDepth = Math.min(maxDepth, HIGHEST_MAX_DEPTH);
  }

  /** Goes over to another text; what is remembered of keys stays. */
  use(text: string): void {
    this.#text = text;
  }

  /** The one value between `start` and `end`, which is the end of the string or the index of a line feed. */
  read(start: number, end: number, place: Place): JsonValue {
    this.#start = start;
    this.#end = end;
    this.#place = place;
    this.#depth = 0;
    const first = this.#skipBlanks(start);
    if (first === end) throw this.#error('invalid_json', 'There is no JSON value', first, 0);
    const value = this.#readValue(first, this.#root);
    const rest = this.#skipBlanks(this.#position);
    if (rest < end) throw this.#unexpected('the end', rest, 0);
    return value;
  }

  #readValue(position: number, parent: SeenKey): JsonValue {
    const code = this.#text.charCodeAt(position);
    switch (code) {
      case QUOTE:
        return this.#readString(position + 1);
      case OPEN_BRACE:
        return this.#readObject(position, parent);
      case OPEN_BRACKET:
        return this.#readArray(position, parent);
      case 116:
        return this.#readWord(position, 'true', true);
      case 102:
        return this.#readWord(position, 'false', false);
      case 110:
        return this.#readWord(position, 'null', null);
    }
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.#readNumber(position);
    throw this.#unexpected('a value', position, this.#depth);
  }

  #readObject(start: number, parent: SeenKey): JsonObject {
    const text = this.#text;
    const depth = this.#enter(start);
    const object: JsonObject = {};
    parent.inner ??= new SeenKey('', '');
    let seen = parent.inner;

    let position = this.#skipBlanks(start + 1);
    if (text.charCodeAt(position) === CLOSE_BRACE) return this.#leave(object, depth, position);
    for (;;) {
      if (text.charCodeAt(position) !== QUOTE) {
        throw this.#unexpected('a key in double quotes', position, depth);
      }
      seen = this.#readKey(position, seen);
      const { key } = seen;
      if (Object.hasOwn(object, key)) {
        const problem = `The key ${describeText(key)} stands twice in one object`;
        throw this.#error('duplicate_key', problem, position, depth);
      }
      this.#path[depth] = key;

      position = this.#skipBlanks(this.#position);
      if (text.charCodeAt(position) !== COLON) throw this.#unexpected('":"', position, depth);
      const value = this.#readValue(this.#skipBlanks(position + 1), seen);
      if (key === '__proto__') {
        // Assigning would set the prototype.
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[key] = value;
      }

      position = this.#skipBlanks(this.#position);
      const code = text.charCodeAt(position);
      if (code === CLOSE_BRACE) return this.#leave(object, depth, position);
      if (code !== COMMA) throw this.#unexpected('"," or "}"', position, depth);
      position = this.#skipBlanks(position + 1);
    }
  }

  #readArray(start: number, parent: SeenKey): JsonValue[] {
    const text = this.#text;
    const depth = this.#enter(start);
    const values: JsonValue[] = [];

    let position = this.#skipBlanks(start + 1);
    if (text.charCodeAt(position) === CLOSE_BRACKET) return this.#leave(values, depth, position);
    for (;;) {
      this.#path[depth] = values.length;
      values.push(this.#readValue(position, parent));

      position = this.#skipBlanks(this.#position);
      const code = text.charCodeAt(position);
      if (code === CLOSE_BRACKET) return this.#leave(values, depth, position);
      if (code !== COMMA) throw this.#unexpected('"," or "]"', position, depth);
      position = this.#skipBlanks(position + 1);
    }
  }

  /** Opens an array or object and gives the depth it stands at. */
  #enter(position: number): number {
    const depth = this.#depth;
    if (!(depth < this.#maxDepth)) {
      const problem = `The value is nested over ${this.#maxDepth} levels deep`;
      throw this.#error('nesting_too_deep', problem, position, depth);
    }
    this.#depth = depth + 1;
    return depth;
  }

  #leave<T extends JsonValue>(container: T, depth: number, position: number): T {
    this.#depth = depth;
    this.#position = position + 1;
    return container;
  }

  /** The key at `start`, found among those that followed `previous` before, or read and remembered. */
  #readKey(start: number, previous: SeenKey): SeenKey {
    const { next, other } = previous;
    if (next !== null && this.#text.startsWith(next.quoted, start)) {
      this.#position = start + next.quoted.length;
      return next;
    }
    if (other !== null && this.#text.startsWith(other.quoted, start)) {
      this.#position = start + other.quoted.length;
      return other;
    }
    this.#depth--;
    const key = this.#readString(start + 1);
    this.#depth++;
    const seen = new SeenKey(key, this.#text.slice(start, this.#position));
    previous.other = next;
    previous.next = seen;
    return seen;
  }

  /** The string whose first character is at `start`, behind the opening quote. */
  #readString(start: number): string {
    const text = this.#text;
    for (let position = start; ; position++) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) {
        this.#position = position + 1;
        return text.slice(start, position);
      }
      if (code === BACKSLASH || !(code >= SPACE)) return this.#readEscapedString(start, position);
    }
  }

  /** Goes on with a string at its first backslash, control character or end of the text. */
  #readEscapedString(start: number, firstSpecial: number): string {
    const text = this.#text;
    let position = firstSpecial;
    for (;;) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) break;
      if (code === BACKSLASH && text.charCodeAt(position + 1) >= SPACE) position += 2;
      else if (code >= SPACE && code !== BACKSLASH) position++;
      else throw this.#badString(start, position);
    }
    this.#position = position + 1;
    try {
      // ECMAScript's own reader takes the same escapes (RFC 8259 section 7), and gives a string without seams.
      return JSON.parse(text.slice(start - 1, position + 1)) as string;
    } catch {
      throw this.#badString(start, position);
    }
  }

  /** What is wrong with a string up to `end`: an escape in it, or the character at `end`. */
  #badString(start: number, end: number): JsonlError {
    const text = this.#text;
    const escapes = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;
    for (let position = text.indexOf('\\', start); position !== -1 && position <= end; ) {
      escapes.lastIndex = position;
      if (!escapes.test(text)) {
        const length = text[position + 1] === 'u' ? 6 : 2;
        const shown = text.slice(position, Math.min(position + length, this.#end));
        const problem = `Found ${shown}, which is no escape, in a string`;
        return this.#error('invalid_json', problem, position, this.#depth);
      }
      position = text.indexOf('\\', escapes.lastIndex);
    }
    if (end >= this.#end)
      return this.#error('invalid_json', 'The text ends inside a string', end, this.#depth);
    const problem = `Found ${nameCharacter(text.charCodeAt(end))} in a string, where it must be escaped`;
    return this.#error('invalid_json', problem, end, this.#depth);
  }

  /** RFC 8259 section 6. Short literals are read here; the others, and what is no number, go to `parseNumber`. */
  #readNumber(start: number): JsonValue {
    const text = this.#text;
    const isNegative = text.charCodeAt(start) === MINUS;
    const digitsStart = isNegative ? start + 1 : start;
    let position = digitsStart;
    let code = text.charCodeAt(position);
    let integer = 0;
    while (code >= ZERO && code <= NINE) {
      integer = integer * 10 + (code - ZERO);
      code = text.charCodeAt(++position);
    }
    const digitCount = position - digitsStart;
    const isPlain = digitCount === 1 || (digitCount > 1 && text.charCodeAt(digitsStart) !== ZERO);

    if (code === POINT) {
      const fractionStart = position + 1;
      do code = text.charCodeAt(++position);
      while (code >= ZERO && code <= NINE);
      const fractionCount = position - fractionStart;
      // Up to 17 digits are what a double can tell apart; see canonicalNumber.
      if (isPlain && fractionCount > 0 && digitCount + fractionCount <= 17 && (code | 32) !== LOWER_E) {
        this.#position = position;
        return Number(text.slice(start, position)) || 0;
      }
    } else if (isPlain && digitCount <= 15 && (code | 32) !== LOWER_E) {
      this.#position = position;
      return isNegative && integer !== 0 ? -integer : integer;
    }
    return this.#readLongNumber(start);
  }

  #readLongNumber(start: number): JsonValue {
    const text = this.#text;
    let position = start + 1;
    // Digits and the signs, point and letters of a number; whether they make one, parseNumber knows.
    for (;;) {
      const code = text.charCodeAt(position);
      const isPart = (code >= ZERO && code <= NINE) || code === POINT || code === MINUS || code === 43;
      if (!isPart && (code | 32) !== LOWER_E) break;
      position++;
    }
    try {
      const value = parseNumber(text.slice(start, position));
      this.#position = position;
      return value;
    } catch (error) {
      if (error instanceof JsonlError) throw this.#error(error.code, error.message, start, this.#depth);
      throw error;
    }
  }

  #readWord<T extends JsonValue>(position: number, word: string, value: T): T {
    if (!this.#text.startsWith(word, position)) throw this.#unexpected('a value', position, this.#depth);
    this.#position = position + word.length;
    return value;
  }

  /** The index behind the white space (RFC 8259 section 2) at `start`; at most the end. */
  #skipBlanks(start: number): number {
    let position = start;
    while (this.#text.charCodeAt(position) <= SPACE) {
      if (position >= this.#end || !isBlank(this.#text.charCodeAt(position))) return position;
      position++;
    }
    return position;
  }

  #unexpected(expected: string, position: number, pathLength: number): JsonlError {
    const found = nameCharacter(this.#text.codePointAt(position) ?? 0);
    const problem =
      position >= this.#end
        ? `The text ends where ${expected} should be`
        : `Found ${found} where ${expected} should be`;
    return this.#error('invalid_json', problem, position, pathLength);
  }

  #error(code: JsonlErrorCode, problem: string, position: number, pathLength: number): JsonlError {
    const before = this.#text.slice(this.#start, position);
    const lineStart = before.lastIndexOf('\n') + 1;
    return new JsonlError(code, problem, {
      ...this.#place,
      line: (this.#place.line ?? 1) + before.split('\n').length - 1,
      column: before.length - lineStart + 1,
      path: jsonPointer(this.#path.slice(0, pathLength)),
    });
  }
}

function isBlank(code: number): boolean {
  return code === SPACE || code === 10 || code === 13 || code === 9;
}

/** A character for a message: itself where it can be seen, else its number. */
function nameCharacter(codePoint: number): string {
  if (codePoint > 32 && codePoint < 127) return `"${String.fromCodePoint(codePoint)}"`;
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
