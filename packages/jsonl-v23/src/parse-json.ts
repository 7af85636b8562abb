import { describeText } from './describe-text.ts';
import { JsonlError, type JsonlErrorCode } from './errors.ts';
import { type JsonObject, type JsonValue, parseNumber } from './json-value.ts';
import { jsonPointer, type Place } from './place.ts';

/** Levels of nesting that are read unless the caller says otherwise. */
export const DEFAULT_MAX_DEPTH = 256;
/** Levels that are read whatever the caller says: the reader recurses, and its stack is finite. */
export const HIGHEST_MAX_DEPTH = 1000;

/**
 * Parses one JSON text: RFC 8259 and nothing else (no comments, NaN, trailing commas, byte order mark).
 *
 * Nothing is lost: numbers that a double would round become `ExactNumber`, `__proto__` and its like are own
 * members, `\u0000` and lone surrogates stay. A repeated key in one object is an error, as keeping either
 * member would lose the other.
 *
 * `maxDepth` (default 256, at most 1,000) counts arrays and objects inside one another; it is checked before
 * anything recurses. `place` is where the text stands; errors add `column` (1-based, UTF-16 code units) and
 * `path` (JSON Pointer of the value at fault, or of the object whose key is).
 *
 * Throws JsonlError `invalid_json`, `duplicate_key`, `nesting_too_deep`, `number_too_long`.
 *
 * @example parseJson('{"id":12345678901234567890}') // { id: ExactNumber('12345678901234567890') }
 */
export function parseJson(text: string, options: { maxDepth?: number; place?: Place } = {}): JsonValue {
  return new JsonReader(text, options.maxDepth).read(0, text.length, options.place ?? {});
}

/**
 * Reads JSON texts out of one long string. Lines of a batch are read this way without cutting them out first;
 * the reader knows the keys it met before, so that lines of one shape make no new key strings.
 */
export class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  /** Keys and indexes that lead to the value being read; only the first #depth entries count. */
  readonly #path: (string | number)[] = [];
  #depth = 0;
  #position = 0;
  #start = 0;
  #end = 0;
  #place: Place = {};

  constructor(text: string, maxDepth: number = DEFAULT_MAX_DEPTH) {
    this.#text = text;
    this.#maxDepth = Math.min(maxDepth, HIGHEST_MAX_DEPTH);
  }

  /** The one value that stands between `start` and `end`; columns count from `start`. */
  read(start: number, end: number, place: Place): JsonValue {
    this.#position = start;
    this.#start = start;
    this.#end = end;
    this.#place = place;
    this.#depth = 0;
    const first = this.#skipBlanks();
    if (this.#position >= end) throw this.#error('invalid_json', 'There is no JSON value');
    const value = this.#readValue(first);
    this.#skipBlanks();
    if (this.#position < end) throw this.#unexpected('the end');
    return value;
  }

  #readValue(code: number): JsonValue {
    switch (code) {
      case 34:
        this.#position++;
        return this.#readString();
      case 123:
        return this.#readObject();
      case 91:
        return this.#readArray();
      case 116:
        return this.#readWord('true', true);
      case 102:
        return this.#readWord('false', false);
      case 110:
        return this.#readWord('null', null);
      default:
        if (code === 45 || (code >= 48 && code <= 57)) return this.#readNumber();
        throw this.#unexpected('a value');
    }
  }

  #readObject(): JsonObject {
    this.#enter();
    const object: JsonObject = {};
    let code = this.#skipBlanks();
    if (code === 125) {
      this.#leave();
      return object;
    }
    for (;;) {
      if (code !== 34) throw this.#unexpected('a key in double quotes');
      const keyStart = this.#position++;
      this.#depth--;
      const key = this.#readString();
      this.#depth++;
      this.#path[this.#depth - 1] = key;
      if (Object.hasOwn(object, key)) {
        this.#position = keyStart;
        throw this.#error('duplicate_key', `The key ${describeText(key)} stands twice in one object`);
      }
      if (this.#skipBlanks() !== 58) throw this.#unexpected('":"');
      this.#position++;
      const value = this.#readValue(this.#skipBlanks());
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[key] = value;
      }
      code = this.#skipBlanks();
      if (code === 125) {
        this.#leave();
        return object;
      }
      if (code !== 44) throw this.#unexpected('"," or "}"');
      this.#position++;
      code = this.#skipBlanks();
    }
  }

  #readArray(): JsonValue[] {
    this.#enter();
    const values: JsonValue[] = [];
    let code = this.#skipBlanks();
    if (code === 93) {
      this.#leave();
      return values;
    }
    for (;;) {
      this.#path[this.#depth - 1] = values.length;
      values.push(this.#readValue(code));
      code = this.#skipBlanks();
      if (code === 93) {
        this.#leave();
        return values;
      }
      if (code !== 44) throw this.#unexpected('"," or "]"');
      this.#position++;
      code = this.#skipBlanks();
    }
  }

  #enter(): void {
    if (this.#depth === this.#maxDepth) {
      throw this.#error('nesting_too_deep', `The value is nested over ${this.#maxDepth} levels deep`);
    }
    this.#depth++;
    this.#path[this.#depth - 1] = 0;
    this.#position++;
  }

  #leave(): void {
    this.#depth--;
    this.#position++;
  }

  /** The string whose opening quote has been passed. */
  #readString(): string {
    const text = this.#text;
    const start = this.#position;
    let position = start;
    for (;;) {
      const code = text.charCodeAt(position);
      if (code === 34) {
        this.#position = position + 1;
        return text.slice(start, position);
      }
      // Also true for the NaN behind the text's end.
      if (code === 92 || !(code >= 32)) return this.#readEscapedString(start, position);
      position++;
    }
  }

  #readEscapedString(start: number, firstSpecial: number): string {
    const text = this.#text;
    let result = text.slice(start, firstSpecial);
    let position = firstSpecial;
    for (;;) {
      const code = text.charCodeAt(position);
      if (code === 34) {
        this.#position = position + 1;
        return result;
      }
      this.#position = position;
      if (position >= this.#end) throw this.#error('invalid_json', 'The text ends inside a string');
      if (code < 32) {
        throw this.#error(
          'invalid_json',
          `Found ${nameCharacter(code)} in a string, where it must be escaped`,
        );
      }
      if (code === 92) {
        result += this.#readEscape(position);
        position = this.#position;
      } else {
        const plain = position;
        position++;
        for (;;) {
          const next = text.charCodeAt(position);
          if (next === 34 || next === 92 || !(next >= 32)) break;
          position++;
        }
        result += text.slice(plain, position);
      }
    }
  }

  /** RFC 8259 section 7. A `\u` escape is one UTF-16 code unit; halves of a pair need not meet. */
  #readEscape(position: number): string {
    const letter = this.#text[position + 1];
    this.#position = position + 2;
    switch (letter) {
      case '"':
      case '\\':
      case '/':
        return letter;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u': {
        const digits = this.#text.slice(position + 2, position + 6);
        if (/^[0-9A-Fa-f]{4}$/.test(digits)) {
          this.#position = position + 6;
          return String.fromCharCode(Number.parseInt(digits, 16));
        }
      }
    }
    this.#position = position;
    const shown = this.#text.slice(position, Math.min(position + 6, this.#end));
    throw this.#error('invalid_json', `Found the unknown escape ${describeText(shown)} in a string`);
  }

  #readNumber(): JsonValue {
    const text = this.#text;
    const start = this.#position;
    let position = start + 1;
    for (;;) {
      const code = text.charCodeAt(position);
      // Digits, "+", "-", ".", "e", "E": whatever may stand in a number.
      if ((code >= 48 && code <= 57) || code === 46 || code === 43 || code === 45 || (code | 32) === 101) {
        position++;
      } else break;
    }
    try {
      const value = parseNumber(text.slice(start, position));
      this.#position = position;
      return value;
    } catch (error) {
      if (error instanceof JsonlError) throw this.#error(error.code, error.message);
      throw error;
    }
  }

  #readWord<T extends JsonValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#position)) throw this.#unexpected('a value');
    this.#position += word.length;
    return value;
  }

  /** Passes white space (RFC 8259 section 2) and gives the code unit behind it, NaN at the end. */
  #skipBlanks(): number {
    for (;;) {
      const code = this.#position < this.#end ? this.#text.charCodeAt(this.#position) : Number.NaN;
      if (code !== 32 && code !== 9 && code !== 10 && code !== 13) return code;
      this.#position++;
    }
  }

  #unexpected(expected: string): JsonlError {
    if (this.#position >= this.#end) {
      return this.#error('invalid_json', `The text ends where ${expected} should be`);
    }
    const found = nameCharacter(this.#text.codePointAt(this.#position) ?? 0);
    return this.#error('invalid_json', `Found ${found} where ${expected} should be`);
  }

  #error(code: JsonlErrorCode, message: string): JsonlError {
    return new JsonlError(code, message, {
      ...this.#place,
      column: this.#position - this.#start + 1,
      path: jsonPointer(this.#path.slice(0, this.#depth)),
    });
  }
}

/** A character for a message: itself where it can be seen, else its number. */
function nameCharacter(codePoint: number): string {
  if (codePoint > 32 && codePoint < 127) return `"${String.fromCodePoint(codePoint)}"`;
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
