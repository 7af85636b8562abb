/// <reference lib="esnext.disposable" preserve="true" />

import { JsonlError } from '../errors.ts';
import { checkNumber, checkText } from '../options.ts';
import { jsonPointer, type SourceLocation } from '../source-location.ts';
import type { ChunkSource } from '../streams.ts';
import { ASCII } from './ascii.ts';
import { describeText } from './describe.ts';
import type { JsonValue } from './json-value.ts';
import { describeUnexpected, HIGHEST_MAX_DEPTH, JsonReader } from './parse-json.ts';
import { TextCursor } from './text-cursor.ts';
import { ValueCounter } from './value-counter.ts';
import { ValueScanner } from './value-scanner.ts';

const { QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;
const { MINUS, ZERO, NINE, LOWER_F, LOWER_N, LOWER_T } = ASCII;

/** Longest value that is held by default, in UTF-16 code units: 64 Mi. */
export const DEFAULT_MAX_VALUE_LENGTH: number = 64 * 1024 * 1024;

/** The kind of a value, by its first character. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Options of `JsonStream`. */
export interface JsonStreamOptions {
  /** Name of the document, for errors. */
  readonly file?: string;
  /** Longest value that is read whole, in UTF-16 code units; also all keys of one `members` loop. Default 64 Mi. */
  readonly maxValueLength?: number;
  /** Levels of nesting of a value that is read whole; default 256, at most 1,000. */
  readonly maxDepth?: number;
}

/** The text of a value as it is written, and where it begins. */
export interface LocatedText {
  readonly text: string;
  /** File, line, column and JSON Pointer: `parseJson(text, { location })` locates errors in the document. */
  readonly location: SourceLocation;
}

interface OpenContainer {
  step: string | number;
  readonly separatorOrEnd: string;
}

/**
 * Reads a long JSON document value by value, without holding it: one chunk and one value are in memory. The document
 * comes as UTF-8, with or without a byte order mark, or as text, from a web stream or an async iterable. It checks
 * values that are read whole as `parseJson` does, with the same errors; of skipped values it only matches brackets and
 * quotes.
 *
 * @example
 * await using json = new JsonStream(createReadStream('data.json'), { file: 'data.json' });
 * for await (const key of json.members()) {
 *   if (key !== 'rows') continue; // skipped
 *   for await (const index of json.items()) console.log(index, await json.value());
 * }
 * await json.end();
 */
export class JsonStream implements AsyncDisposable {
  readonly #cursor: TextCursor;
  readonly #scanner: ValueScanner = new ValueScanner();
  readonly #reader: JsonReader;
  readonly #maxValueLength: number;
  readonly #open: OpenContainer[] = [];
  /** Counts the values that were read or skipped, so that a loop knows whether its body read one. */
  #valueCount = 0;

  constructor(source: ChunkSource<Uint8Array | string>, options: JsonStreamOptions = {}) {
    checkText('file', options.file);
    checkNumber('maxValueLength', options.maxValueLength, { min: 1 });
    checkNumber('maxDepth', options.maxDepth, { min: 0, max: HIGHEST_MAX_DEPTH });
    const { file, maxValueLength = DEFAULT_MAX_VALUE_LENGTH, maxDepth } = options;
    this.#cursor = new TextCursor(source, file);
    this.#reader = new JsonReader('', maxDepth);
    this.#maxValueLength = maxValueLength;
  }

  /** Where the stream is: after white space once `peek` has returned. */
  get location(): SourceLocation {
    return this.#locate(this.#open.length);
  }

  /**
   * The kind of the next value, which is not read; `'end'` at the end of the document.
   *
   * @throws JsonlError `invalid_json` if no value begins here; `invalid_utf8`
   */
  async peek(): Promise<JsonKind | 'end'> {
    const code = await this.#cursor.skipWhitespace();
    if (code === -1) return 'end';
    const kind = kindByFirst(code);
    if (kind === null) throw this.#unexpected('a value', this.#open.length);
    return kind;
  }

  /**
   * Reads the next value whole.
   *
   * @throws JsonlError as `parseJson` does; `invalid_utf8`; `line_too_long` beyond `maxValueLength`
   */
  async value(): Promise<JsonValue> {
    const { text, location } = await this.#cut();
    return this.#parse(text, location);
  }

  /**
   * Reads the text of the next value without parsing it.
   *
   * @param maxValues JSON values that it may hold, counted while it arrives; by default there is no limit
   * @throws JsonlError `invalid_json` if no value begins here or the value has no end; `invalid_utf8`; `line_too_long`
   */
  async text(maxValues: number = Number.POSITIVE_INFINITY): Promise<LocatedText> {
    const value = await this.#cut(maxValues);
    if (this.#scanner.isOpen) throw this.#error('Unterminated value');
    return value;
  }

  /**
   * Passes over the next value, whatever its length.
   *
   * @throws JsonlError `invalid_json` if no value begins here or the value has no end; `invalid_utf8`
   */
  async skip(): Promise<void> {
    await this.#expectValue();
    if (this.#textInPiece() === null) await this.#scanValue(null);
    if (this.#scanner.isOpen) throw this.#error('Unterminated value');
    this.#valueCount += 1;
  }

  /**
   * Reads an array item by item: gives the index of each, which the body of the loop then reads. An item that the body
   * does not read is skipped. After leaving the loop early you can only close the stream.
   *
   * @throws JsonlError `invalid_json` if the next value is not an array, or where a comma or the end is missing
   */
  async *items(): AsyncGenerator<number, void, undefined> {
    await this.#expect(OPEN_BRACKET, '"["', this.#open.length);
    if ((await this.#cursor.skipWhitespace()) !== CLOSE_BRACKET) {
      const container: OpenContainer = { step: 0, separatorOrEnd: '"," or "]"' };
      this.#open.push(container);
      for (let index = 0; ; index++) {
        container.step = index;
        const before = this.#valueCount;
        yield index;
        if (this.#isUnread(container, before)) await this.skip();
        if (!(await this.#passComma(CLOSE_BRACKET))) break;
      }
      this.#open.pop();
    }
    this.#pass();
    this.#valueCount += 1;
  }

  /**
   * Reads an object member by member: gives the key of each, whose value the body of the loop then reads. A value that
   * the body does not read is skipped. After leaving the loop early you can only close the stream.
   *
   * @throws JsonlError `invalid_json` as `items` does, `duplicate_key`, `line_too_long`
   */
  async *members(): AsyncGenerator<string, void, undefined> {
    await this.#expect(OPEN_BRACE, '"{"', this.#open.length);
    if ((await this.#cursor.skipWhitespace()) !== CLOSE_BRACE) {
      const container: OpenContainer = { step: '', separatorOrEnd: '"," or "}"' };
      const keys = new Set<string>();
      let keysLength = 0;
      this.#open.push(container);
      do {
        const { key, length } = await this.#readKey(keys, this.#maxValueLength - keysLength);
        keys.add(key);
        keysLength += length;
        await this.#expect(COLON, '":"', this.#open.length - 1);
        container.step = key;
        const before = this.#valueCount;
        yield key;
        if (this.#isUnread(container, before)) await this.skip();
      } while (await this.#passComma(CLOSE_BRACE));
      this.#open.pop();
    }
    this.#pass();
    this.#valueCount += 1;
  }

  /**
   * Makes sure that nothing follows.
   *
   * @throws JsonlError `invalid_json`, `invalid_utf8`
   */
  async end(): Promise<void> {
    if ((await this.#cursor.skipWhitespace()) !== -1) throw this.#unexpected('the end of the text', 0);
  }

  /** Closes the source. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cursor.close();
  }

  /** Whether the loop's body did not read the value of a member. */
  #isUnread(container: OpenContainer, valueCountBefore: number): boolean {
    if (this.#open.at(-1) !== container)
      throw new TypeError('Cannot continue: an inner loop was left early.');
    return this.#valueCount === valueCountBefore;
  }

  async #readKey(keys: ReadonlySet<string>, maxLength: number): Promise<{ key: string; length: number }> {
    const pathLength = this.#open.length - 1;
    if ((await this.#cursor.skipWhitespace()) !== QUOTE)
      throw this.#unexpected('a key in double quotes', pathLength);
    const location = this.#locate(pathLength);
    const text = this.#textInPiece(maxLength) ?? (await this.#scanText(maxLength, location));
    this.#reader.use(text);
    const key = String(this.#reader.read(0, text.length, location));
    if (keys.has(key)) {
      throw new JsonlError('duplicate_key', `Duplicate key ${describeText(key)}`, location);
    }
    return { key, length: text.length };
  }

  /** Passes a comma and returns true, or returns false at `close`. */
  #passComma(close: number, code: Waited<number> = this.#cursor.skipWhitespace()): Waited<boolean> {
    if (typeof code !== 'number') return code.then((found) => this.#passComma(close, found));
    if (code === close) return false;
    const { separatorOrEnd } = this.#open.at(-1) as OpenContainer;
    if (code !== COMMA) throw this.#unexpected(separatorOrEnd, this.#open.length - 1);
    this.#pass();
    return true;
  }

  /** The text of the next value. At the end of the document it may be incomplete: the parser knows how to say so. */
  async #cut(maxValues: number = Number.POSITIVE_INFINITY): Promise<LocatedText> {
    await this.#expectValue();
    const { location } = this;
    // More values would take more characters.
    const text =
      this.#textInPiece(Math.min(this.#maxValueLength, maxValues)) ??
      (await this.#scanText(this.#maxValueLength, location, maxValues));
    this.#valueCount += 1;
    return { text, location };
  }

  /** The next value if all of it is in this piece of text and not longer, as most are: promises would take longer. */
  #textInPiece(maxLength: number = Number.POSITIVE_INFINITY): string | null {
    const { text, index } = this.#cursor;
    this.#scanner.reset();
    const end = this.#scanner.scan(text, index);
    if (end === -1 || end - index > maxLength) return null;
    this.#cursor.moveTo(end);
    return text.slice(index, end);
  }

  async #scanText(
    maxLength: number,
    location: SourceLocation,
    maxValues: number = Number.POSITIVE_INFINITY,
  ): Promise<string> {
    const pieces: string[] = [];
    const counter = new ValueCounter();
    let counted = 0;
    let length = 0;
    await this.#scanValue((piece) => {
      length += piece.length;
      if (length > maxLength) {
        const problem = `The value is longer than ${this.#maxValueLength} characters`;
        throw new JsonlError('line_too_long', problem, location);
      }
      pieces.push(piece);
      // As many values would take more characters.
      for (; length >= maxValues && counted < pieces.length; counted += 1) {
        counter.add(ENCODER.encode(pieces[counted]));
      }
      if (counter.values > maxValues) {
        throw new JsonlError('line_too_long', `The value has more than ${maxValues} values`, location);
      }
    });
    return pieces.join('');
  }

  async #scanValue(onPiece: ((piece: string) => void) | null): Promise<void> {
    const cursor = this.#cursor;
    this.#scanner.reset();
    for (let end = -1; end === -1; ) {
      end = this.#scanner.scan(cursor.text, cursor.index);
      onPiece?.(end === -1 ? cursor.text.slice(cursor.index) : cursor.text.slice(cursor.index, end));
      if (end !== -1) cursor.moveTo(end);
      else if (!(await cursor.next())) return;
    }
  }

  #parse(text: string, location: SourceLocation): JsonValue {
    const reader = this.#reader;
    reader.use(text);
    const value = reader.readFirst(0, text.length, location);
    const { position } = reader;
    if (position === text.length) return value;
    // What follows the value, as in [1x], should have been a separator.
    const container = this.#open.at(-1);
    const expected = container === undefined ? 'the end of the text' : container.separatorOrEnd;
    throw new JsonlError('invalid_json', describeUnexpected(expected, text.codePointAt(position)), {
      ...location,
      column: (location.column ?? 1) + position,
      path: jsonPointer(this.#open.slice(0, -1).map(({ step }) => step)),
    });
  }

  #expectValue(code: Waited<number> = this.#cursor.skipWhitespace()): Waited<void> {
    if (typeof code !== 'number') return code.then((found) => this.#expectValue(found));
    if (kindByFirst(code) === null) throw this.#unexpected('a value', this.#open.length);
  }

  async #expect(code: number, expected: string, pathLength: number): Promise<void> {
    if ((await this.#cursor.skipWhitespace()) !== code) throw this.#unexpected(expected, pathLength);
    this.#pass();
  }

  #pass(): void {
    this.#cursor.moveTo(this.#cursor.index + 1);
  }

  #locate(pathLength: number): SourceLocation {
    const path = pathLength === 0 ? '' : jsonPointer(this.#open.slice(0, pathLength).map(({ step }) => step));
    return { ...this.#cursor.location, path };
  }

  #unexpected(expected: string, pathLength: number): JsonlError {
    const { text, index } = this.#cursor;
    const problem = describeUnexpected(expected, text.codePointAt(index));
    return new JsonlError('invalid_json', problem, this.#locate(pathLength));
  }

  #error(problem: string): JsonlError {
    return new JsonlError('invalid_json', problem, this.location);
  }
}

/** What is known at once, unless it takes the next piece of text. */
type Waited<T> = T | Promise<T>;

const ENCODER = new TextEncoder();

function kindByFirst(code: number): JsonKind | null {
  switch (code) {
    case OPEN_BRACE:
      return 'object';
    case OPEN_BRACKET:
      return 'array';
    case QUOTE:
      return 'string';
    case LOWER_T:
    case LOWER_F:
      return 'boolean';
    case LOWER_N:
      return 'null';
    default:
      return code === MINUS || (code >= ZERO && code <= NINE) ? 'number' : null;
  }
}
