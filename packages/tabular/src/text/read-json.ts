import { JsonlError } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { decodeText, isUtf8 } from './decode-text.ts';
import { JsonCursor, type JsonText } from './json-cursor.ts';
import {
  DEFAULT_MAX_ROW_SIZE,
  invalidRow,
  type LoaderParams,
  type RawRow,
  type ReadOptions,
} from './raw-row.ts';
import { readJsonl } from './read-jsonl.ts';

// A first line longer than this is not looked at whole to find out whether the file has one object a line.
const SNIFFED_BYTES = 1024 * 1024;

/**
 * Reads a JSON file row by row, whatever its form and its name: JSON Lines, an array of objects, an array of anything else
 * (column `text`), one object, several objects one after another. An object of columns is one row of lists, as the hub's
 * own loader has it. Holds one row.
 *
 * @param params the card's parameters: `field` (the member that holds the rows), `encoding`, `encoding_errors`
 * @throws TableError `invalid_row` with file, line and column
 */
export async function* readJson(
  source: AsyncIterable<Uint8Array>,
  params: LoaderParams,
  options: ReadOptions,
): AsyncGenerator<RawRow, void, undefined> {
  const encoding = typeof params['encoding'] === 'string' ? params['encoding'] : undefined;
  const replaceErrors = 'encoding_errors' in params && params['encoding_errors'] !== 'strict';
  const field = typeof params['field'] === 'string' ? params['field'] : null;
  const { file, signal, maxRowSize = DEFAULT_MAX_ROW_SIZE } = options;

  if (field === null && isUtf8(encoding) && !replaceErrors) {
    const { lines, bytes } = await sniffLines(source, options);
    if (lines) yield* readJsonl(bytes, options);
    else yield* readWhole(bytes);
  } else {
    yield* readWhole(source);
  }

  async function* readWhole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow, void, undefined> {
    const pieces = decodeText(bytes, { file, encoding, replaceErrors, signal });
    try {
      const cursor = new JsonCursor(pieces, file, maxRowSize);
      if (field !== null) yield* readMember(cursor, field, file);
      else if ((await cursor.peek()) === '[') yield* readArray(cursor, file);
      else yield* readObjects(cursor, file);
    } finally {
      // The cursor pulls; whoever stops reading must close what it pulls from.
      await pieces.return();
    }
  }
}

/**
 * Whether the file has one object a line: its first line that is not blank is a whole object. Gives the file's bytes
 * back as if nothing had been read.
 */
async function sniffLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): Promise<{ lines: boolean; bytes: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let line = '';
  let complete = false;
  try {
    for (let size = 0; size < SNIFFED_BYTES && !complete; ) {
      options.signal?.throwIfAborted();
      const next = await iterator.next();
      if (next.done === true) break;
      head.push(next.value);
      size += next.value.length;
      const text = decoder.decode(next.value, { stream: true });
      const start = line === '' ? text.search(/\S/) : 0;
      if (start === -1) continue;
      const end = text.indexOf('\n', start);
      line += end === -1 ? text.slice(start) : text.slice(start, end);
      complete = end !== -1 || !line.startsWith('{');
    }
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
  return { lines: isObjectLine(line), bytes: resume(head, iterator) };
}

function isObjectLine(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    parseJson(line);
    return true;
  } catch (error) {
    // A line with a fault of its own is better named by the reader of lines.
    if (error instanceof JsonlError) return error.code !== 'invalid_json';
    throw error;
  }
}

async function* resume(
  head: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** The elements of the array at which the cursor stands. */
async function* readArray(cursor: JsonCursor, file: string): AsyncGenerator<RawRow, void, undefined> {
  yield* readElements(cursor, file);
  if ((await cursor.peek()) !== undefined) {
    throw invalidRow('Something stands behind the array', cursor.location());
  }
}

async function* readElements(cursor: JsonCursor, file: string): AsyncGenerator<RawRow, void, undefined> {
  cursor.pass();
  let wrapped: boolean | null = null;
  for (let first = true; ; first = false) {
    const next = await cursor.peek();
    if (next === ']' && first) break;
    if (next === undefined) throw invalidRow('The file ends inside an array', cursor.location());
    const element = await cursor.value();
    const value = parseText(element, file);
    // The first element says what all are: rows, or values of one column.
    wrapped ??= !isJsonObject(value);
    yield wrapped
      ? {
          row: { text: value },
          line: element.line,
          size: element.text.length,
          text: `{"text":${element.text}}`,
        }
      : toRow(value, element, file);
    const separator = await cursor.peek();
    if (separator !== ',' && separator !== ']') {
      throw invalidRow('"," or "]" is missing in an array', cursor.location());
    }
    if (separator === ']') break;
    cursor.pass();
  }
  cursor.pass();
}

/** Objects one after another, set apart by white space alone. */
async function* readObjects(cursor: JsonCursor, file: string): AsyncGenerator<RawRow, void, undefined> {
  while ((await cursor.peek()) !== undefined) {
    const element = await cursor.value();
    yield toRow(parseText(element, file), element, file);
  }
}

/** The rows that one member of the file's object holds: an array's elements, else the member's own value. */
async function* readMember(
  cursor: JsonCursor,
  field: string,
  file: string,
): AsyncGenerator<RawRow, void, undefined> {
  if ((await cursor.peek()) !== '{') throw invalidRow('The file is not one object', cursor.location());
  cursor.pass();
  while ((await cursor.peek()) === '"') {
    const key = parseText(await cursor.value(), file);
    if ((await cursor.peek()) !== ':') throw invalidRow('":" is missing in an object', cursor.location());
    cursor.pass();
    const next = await cursor.peek();
    if (key === field) {
      if (next === '[') {
        yield* readElements(cursor, file);
      } else {
        const element = await cursor.value();
        yield toRow(parseText(element, file), element, file);
      }
      return;
    }
    if (next === undefined) break;
    await cursor.value(false);
    if ((await cursor.peek()) !== ',') break;
    cursor.pass();
  }
  throw invalidRow(`The file has no member ${JSON.stringify(field)}`, { file });
}

function toRow(value: JsonValue, { text, line, column }: JsonText, file: string): RawRow {
  if (!isJsonObject(value)) throw invalidRow('The row is not an object', { file, line, column });
  return { row: value satisfies JsonObject, line, size: text.length, text };
}

function parseText({ text, line, column }: JsonText, file: string): JsonValue {
  try {
    return parseJson(text, { location: { file, line } });
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    // The parser counts columns from the value's beginning.
    const { location } = error;
    const inFirstLine = location.line === line && location.column !== undefined;
    throw invalidRow(
      error.message,
      inFirstLine ? { ...location, column: location.column! + column - 1 } : location,
      error,
    );
  }
}
