import { JsonlError, type JsonlErrorCode } from '../errors.ts';
import { checkNumber } from '../options.ts';
import { jsonPointer, type SourceLocation } from '../source-location.ts';
import { ASCII } from './ascii.ts';
import { canonicalNumber } from './canonical-number.ts';
import { describeText } from './describe.ts';
import { type JsonObject, type JsonValue, parseNumber } from './json-value.ts';

const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, BACKSLASH } = ASCII;
const { COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;
const { PLUS, MINUS, POINT, ZERO, NINE, LOWER_E, LOWER_F, LOWER_N, LOWER_T } = ASCII;

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

/** A loop reads strings up to this length; ECMAScript's parser reads longer ones, and is faster there. */
const SHORT_LENGTH = 256;
/** Longer strings are read by the loop alone: it cuts them out of the text without a copy. */
const MAX_COPIED_LENGTH = 1024 * 1024;

type NumberReader = (literal: string) => JsonValue;

/**
 * Reads the tokens of JSON texts (RFC 8259) and locates errors. A text may be a range of a longer one, such as a line
 * of a batch, so that it need not be cut out first.
 *
 * The parser extends this class: state in one object is 5 % faster than a parser that calls a tokenizer, and a result
 * object for each token would cost more than the token. `charCodeAt` gives NaN after the end of the string; NaN is
 * unequal to everything and so ends up in the errors. A line feed at the end of a range does too.
 */
abstract class JsonTokenizer {
  protected text: string;
  position = 0;
  protected depth = 0;
  protected readonly path: (string | number)[] = [];
  readonly #toNumber: NumberReader | null;
  #start = 0;
  #end = 0;
  #location: SourceLocation = {};

  constructor(text: string, toNumber: NumberReader | null) {
    this.text = text;
    this.#toNumber = toNumber;
  }

  /** Selects the range to read. `end` is the end of the string or the index of a line feed. */
  protected select(start: number, end: number, location: SourceLocation): void {
    this.#start = start;
    this.#end = end;
    this.#location = location;
    this.depth = 0;
  }

  protected skipWhitespace(start: number): number {
    const { text } = this;
    for (let position = start; ; position++) {
      const code = text.charCodeAt(position);
      if (!(code <= SPACE) || position >= this.#end || !isWhitespace(code)) return position;
    }
  }

  /** Reads the string whose opening quote is at `open`. Errors have the first `pathLength` steps of the path. */
  protected readString(open: number, pathLength: number): string {
    const { text } = this;
    const start = open + 1;
    for (let position = start; ; position++) {
      if (position - start === SHORT_LENGTH) {
        const long = this.#readLongString(start, position);
        if (long !== null) return long;
      }
      const code = text.charCodeAt(position);
      if (code === QUOTE) {
        this.position = position + 1;
        return text.slice(start, position);
      }
      if (code === BACKSLASH || !(code >= SPACE)) return this.#readEscapedString(start, position, pathLength);
    }
  }

  /** The string up to the next quote; null if it does not end there, is invalid or too long to copy. */
  #readLongString(start: number, position: number): string | null {
    const { text } = this;
    const quote = text.indexOf('"', position);
    if (quote === -1 || quote - start > MAX_COPIED_LENGTH || text.charCodeAt(quote - 1) === BACKSLASH)
      return null;
    try {
      const value = JSON.parse(text.slice(start - 1, quote + 1)) as string;
      this.position = quote + 1;
      return value;
    } catch {
      return null;
    }
  }

  #readEscapedString(start: number, firstSpecial: number, pathLength: number): string {
    const { text } = this;
    let position = firstSpecial;
    for (;;) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) break;
      if (code === BACKSLASH && text.charCodeAt(position + 1) >= SPACE) position += 2;
      else if (code >= SPACE && code !== BACKSLASH) position += 1;
      else throw this.#invalidString(start, position, pathLength);
    }
    this.position = position + 1;
    try {
      // ECMAScript's parser accepts the same escapes (RFC 8259 section 7), and returns a flat string.
      return JSON.parse(text.slice(start - 1, position + 1)) as string;
    } catch {
      throw this.#invalidString(start, position, pathLength);
    }
  }

  /** The error of a string: an invalid escape before `end`, or the character at `end`. */
  #invalidString(start: number, end: number, pathLength: number): JsonlError {
    const { text } = this;
    const escapes = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;
    for (let position = text.indexOf('\\', start); position !== -1 && position <= end; ) {
      escapes.lastIndex = position;
      if (!escapes.test(text)) {
        const length = text[position + 1] === 'u' ? 6 : 2;
        const shown = text.slice(position, Math.min(position + length, this.#end));
        return this.error('invalid_json', `Invalid escape sequence ${shown}`, position, pathLength);
      }
      position = text.indexOf('\\', escapes.lastIndex);
    }
    if (end >= this.#end) return this.error('invalid_json', 'Unterminated string', end, pathLength);
    const problem = `Unescaped control character ${describeCharacter(text.charCodeAt(end))} in a string`;
    return this.error('invalid_json', problem, end, pathLength);
  }

  /** Reads a number (RFC 8259 section 6). Short literals are read here, all others by `parseNumber`. */
  protected readNumber(start: number): JsonValue {
    if (this.#toNumber !== null) return this.#readLiteral(start, this.#toNumber);
    const { text } = this;
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
      // A double keeps 15 digits; see canonicalNumber.
      if (isPlain && fractionCount > 0 && digitCount + fractionCount <= 15 && (code | 32) !== LOWER_E) {
        this.position = position;
        return Number(text.slice(start, position)) || 0;
      }
    } else if (isPlain && digitCount <= 15 && (code | 32) !== LOWER_E) {
      this.position = position;
      return isNegative && integer !== 0 ? -integer : integer;
    }
    return this.#readLiteral(start, parseNumber);
  }

  #readLiteral(start: number, toNumber: NumberReader): JsonValue {
    const { text } = this;
    let position = start + 1;
    while (isNumberPart(text.charCodeAt(position))) position += 1;
    try {
      const value = toNumber(text.slice(start, position));
      this.position = position;
      return value;
    } catch (error) {
      if (error instanceof JsonlError) throw this.error(error.code, error.message, start, this.depth);
      throw error;
    }
  }

  protected readWord<T extends JsonValue>(start: number, word: string, value: T): T {
    if (!this.text.startsWith(word, start)) throw this.unexpected('a value', start, this.depth);
    this.position = start + word.length;
    return value;
  }

  protected unexpected(expected: string, position: number, pathLength: number): JsonlError {
    const found = position < this.#end ? this.text.codePointAt(position) : undefined;
    return this.error('invalid_json', describeUnexpected(expected, found), position, pathLength);
  }

  /** An error at `position`, with the first `pathLength` steps of the path. */
  protected error(code: JsonlErrorCode, problem: string, position: number, pathLength: number): JsonlError {
    const before = this.text.slice(this.#start, position);
    const lineStart = before.lastIndexOf('\n') + 1;
    const { line = 1, column = 1, path = '', ...rest } = this.#location;
    return new JsonlError(code, problem, {
      ...rest,
      line: line + before.split('\n').length - 1,
      column: before.length - lineStart + (lineStart === 0 ? column : 1),
      path: path + jsonPointer(this.path.slice(0, pathLength)),
    });
  }
}

/** White space between tokens (RFC 8259 section 2). */
function isWhitespace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;
}

function isNumberPart(code: number): boolean {
  const isDigit = code >= ZERO && code <= NINE;
  return isDigit || code === POINT || code === MINUS || code === PLUS || (code | 32) === LOWER_E;
}

/** The message for an unexpected token; without `codePoint` the text has ended. */
export function describeUnexpected(expected: string, codePoint: number | undefined): string {
  return codePoint === undefined
    ? `Expected ${expected}, got the end of the text`
    : `Expected ${expected}, got ${describeCharacter(codePoint)}`;
}

/** A character for a message: itself if it is visible ASCII, else its code point. */
function describeCharacter(codePoint: number): string {
  if (codePoint > SPACE && codePoint < 127) return `"${String.fromCodePoint(codePoint)}"`;
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
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
