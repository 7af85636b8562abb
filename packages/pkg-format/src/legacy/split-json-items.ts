import { JsonlError } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { concatBytes } from '../zip/concat-bytes.ts';
import { decodeUtf8 } from '../zip/entry-name.ts';

/** A piece of a JSON file that holds items, in the order of the file. */
export type JsonPart =
  /** An `items` list begins. `section` is its index in `sections`, null where the file is one section. */
  | { kind: 'items'; section: number | null }
  | { kind: 'item'; section: number | null; text: string; line: number; column: number }
  /** Another member of the root, or of a member of `sections`. */
  | { kind: 'member'; section: number | null; key: string; value: JsonValue };

export interface SplitJsonOptions {
  file: string;
  /** One item, and all other members together. */
  maxValueBytes: number;
  maxDepth: number;
}

/**
 * Takes a JSON file of any size apart into its items: an array of objects, `{"items": [...]}`, or
 * `{"sections": [{"name", "items": [...]}]}`. One item is in memory at a time. Of any other JSON file nothing but
 * members comes out, and of one that is no object nothing at all.
 *
 * @throws PackageError `package_invalid_json` with line and column, `package_limit`
 */
export async function* splitJsonItems(
  bytes: AsyncIterable<Uint8Array>,
  options: SplitJsonOptions,
): AsyncGenerator<JsonPart> {
  const cursor = new JsonCursor(bytes, options);
  try {
    await cursor.skipBom();
    const first = await cursor.peek();
    if (first === OPEN_BRACKET) yield* rootArray(cursor);
    else if (first === OPEN_BRACE) yield* objectMembers(cursor, null);
    else await cursor.takeParsed();
    if ((await cursor.peek()) !== END) {
      throw cursor.error('holds more than one JSON value; JSON Lines belong into a file named .jsonl');
    }
  } finally {
    await cursor.close();
  }
}

const END = -1;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LINE_FEED = 0x0a;

async function* rootArray(cursor: JsonCursor): AsyncGenerator<JsonPart> {
  await cursor.expect(OPEN_BRACKET);
  if ((await cursor.peek()) === OPEN_BRACE) yield* restOfItems(cursor, null);
  else await cursor.skipElements();
}

/** Members of the root (`section` null) or of one of its `sections`. */
async function* objectMembers(cursor: JsonCursor, section: number | null): AsyncGenerator<JsonPart> {
  await cursor.expect(OPEN_BRACE);
  const seen = new Set<string>();
  for (let more = (await cursor.peek()) !== CLOSE_BRACE; more; more = await cursor.another(CLOSE_BRACE)) {
    const key = await cursor.takeKey();
    if (seen.has(key)) throw cursor.error(`has the key ${quote(key)} twice in one object`);
    seen.add(key);
    await cursor.expect(COLON);
    const first = await cursor.peek();
    if (key === 'items' && first === OPEN_BRACKET) {
      await cursor.expect(OPEN_BRACKET);
      yield* restOfItems(cursor, section);
    } else if (key === 'sections' && section === null && first === OPEN_BRACKET) {
      yield* sectionList(cursor);
    } else yield { kind: 'member', section, key, value: await cursor.takeParsed() };
  }
  await cursor.expect(CLOSE_BRACE);
}

/** Members of `sections` that are no objects are given as members of the root. */
async function* sectionList(cursor: JsonCursor): AsyncGenerator<JsonPart> {
  await cursor.expect(OPEN_BRACKET);
  let index = 0;
  for (let more = (await cursor.peek()) !== CLOSE_BRACKET; more; more = await cursor.another(CLOSE_BRACKET)) {
    if ((await cursor.peek()) === OPEN_BRACE) yield* objectMembers(cursor, index);
    else yield { kind: 'member', section: index, key: '', value: await cursor.takeParsed() };
    index++;
  }
  await cursor.expect(CLOSE_BRACKET);
}

async function* restOfItems(cursor: JsonCursor, section: number | null): AsyncGenerator<JsonPart> {
  yield { kind: 'items', section };
  for (let more = (await cursor.peek()) !== CLOSE_BRACKET; more; more = await cursor.another(CLOSE_BRACKET)) {
    await cursor.peek();
    const { line, column } = cursor;
    yield { kind: 'item', section, text: await cursor.takeText(), line, column };
  }
  await cursor.expect(CLOSE_BRACKET);
}

/** A place in a stream of JSON, moved forward value by value. */
class JsonCursor {
  /** 1-based; the column in UTF-16 units, as an editor counts. */
  line = 1;
  column = 1;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #options: SplitJsonOptions;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #memberBytes = 0;

  constructor(bytes: AsyncIterable<Uint8Array>, options: SplitJsonOptions) {
    this.#source = bytes[Symbol.asyncIterator]();
    this.#options = options;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #fill(): Promise<boolean> {
    while (this.#at === this.#chunk.length) {
      const next = await this.#source.next();
      if (next.done) return false;
      this.#chunk = next.value;
      this.#at = 0;
    }
    return true;
  }

  #advance(byte: number): void {
    this.#at++;
    if (byte === LINE_FEED) {
      this.line++;
      this.column = 1;
    } else if ((byte & 0xc0) !== 0x80) {
      // A code point above U+FFFF is two UTF-16 units.
      this.column += byte >= 0xf0 ? 2 : 1;
    }
  }

  async skipBom(): Promise<void> {
    if (!(await this.#fill()) || this.#chunk[this.#at] !== 0xef) return;
    for (const byte of [0xef, 0xbb, 0xbf]) {
      if (!(await this.#fill()) || this.#chunk[this.#at] !== byte) throw this.error('is not UTF-8');
      this.#at++;
    }
  }

  /** The next byte that is no white space, or END. */
  async peek(): Promise<number> {
    for (;;) {
      while (this.#at < this.#chunk.length) {
        const byte = this.#chunk[this.#at]!;
        if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== LINE_FEED) return byte;
        this.#advance(byte);
      }
      if (!(await this.#fill())) return END;
    }
  }

  async expect(byte: number): Promise<void> {
    if ((await this.peek()) !== byte)
      throw this.error(`is not valid JSON: expected "${String.fromCharCode(byte)}"`);
    this.#advance(byte);
  }

  /** Whether a comma leads to another member; at `close` there is none. */
  async another(close: number): Promise<boolean> {
    if ((await this.peek()) === close) return false;
    await this.expect(COMMA);
    return true;
  }

  /** Goes over the rest of an array that holds no items. */
  async skipElements(): Promise<void> {
    for (let more = (await this.peek()) !== CLOSE_BRACKET; more; more = await this.another(CLOSE_BRACKET)) {
      await this.takeValue();
    }
    await this.expect(CLOSE_BRACKET);
  }

  async takeKey(): Promise<string> {
    if ((await this.peek()) !== QUOTE) throw this.error('is not valid JSON: expected a key');
    return String(await this.takeParsed());
  }

  /** A whole value that is no item; all of them together are bounded. */
  async takeParsed(): Promise<JsonValue> {
    await this.peek();
    const { line, column } = this;
    const text = await this.takeText();
    this.#memberBytes += text.length;
    if (this.#memberBytes > this.#options.maxValueBytes) throw this.#tooLong();
    return parseJsonAt(text, { ...this.#options, line, column });
  }

  async takeText(): Promise<string> {
    await this.peek();
    const { line, column } = this;
    const text = decodeUtf8(await this.takeValue());
    if (text === null) throw this.error('holds a value that is not UTF-8', { line, column });
    return text;
  }

  /** The bytes of one value, by its brackets and quotes; whether it is valid is for the parser to say. */
  async takeValue(): Promise<Uint8Array> {
    if ((await this.peek()) === END) throw this.error('is not valid JSON: it ends in the middle');
    const parts: Uint8Array[] = [];
    let length = 0;
    let depth = 0;
    let inString = false;
    let isEscaped = false;
    for (;;) {
      const chunk = this.#chunk;
      const start = this.#at;
      let isDone = false;
      while (this.#at < chunk.length && !isDone) {
        const byte = chunk[this.#at]!;
        if (inString) {
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) {
            inString = false;
            isDone = depth === 0;
          }
        } else if (byte === QUOTE) inString = true;
        else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
        else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          // The end of what a number or word stands in.
          if (depth === 0) break;
          depth--;
          isDone = depth === 0;
        } else if (depth === 0 && (byte === COMMA || byte === COLON || byte <= 0x20)) break;
        this.#advance(byte);
      }
      parts.push(chunk.subarray(start, this.#at));
      length += this.#at - start;
      if (length > this.#options.maxValueBytes) throw this.#tooLong();
      if (isDone || this.#at < chunk.length) break;
      if (!(await this.#fill())) {
        if (depth > 0 || inString) throw this.error('is not valid JSON: it ends in the middle');
        break;
      }
    }
    if (length === 0) throw this.error('is not valid JSON: expected a value');
    return concatBytes(parts);
  }

  /** An error here, or at a place that was passed. */
  error(fault: string, { line, column }: { line: number; column: number } = this): PackageError {
    const { file } = this.#options;
    const location = { file, line, column };
    return new PackageError('package_invalid_json', `${quote(file)} ${fault}`, { entry: file, location });
  }

  #tooLong(): PackageError {
    const { file, maxValueBytes } = this.#options;
    return new PackageError('package_limit', `${quote(file)} holds a value of over ${maxValueBytes} bytes`, {
      entry: file,
      location: { file, line: this.line },
    });
  }
}

/**
 * Parses a value that stands in the middle of a file.
 *
 * @throws PackageError `package_invalid_json` with the place in the file
 */
function parseJsonAt(
  text: string,
  { file, line, column, maxDepth }: { file: string; line: number; column: number; maxDepth: number },
): JsonValue {
  try {
    return parseJson(text, { maxDepth, location: { file, line } });
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const location = { ...error.location };
    if (location.line === line && location.column !== undefined) location.column += column - 1;
    throw new PackageError('package_invalid_json', `${quote(file)} cannot be read: ${error.message}`, {
      entry: file,
      location,
      cause: error,
    });
  }
}

/**
 * Parses an item that stands in the middle of a JSON file.
 *
 * @throws PackageError `package_invalid_json`, `package_invalid_line` with the place in the file
 */
export function parseItemAt(
  text: string,
  at: { file: string; line: number; column: number; maxDepth: number },
): JsonObject {
  const value = parseJsonAt(text, at);
  if (isJsonObject(value)) return value;
  const { file, line, column } = at;
  throw new PackageError('package_invalid_line', `${quote(file)} holds an item that is no object`, {
    entry: file,
    location: { file, line, column },
  });
}
