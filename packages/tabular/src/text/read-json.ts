import type { SourceLocation } from '@svc/jsonl-v23';
import { hasMoreValues, isJsonObject, JsonlError, JsonStream, MAX_LINE_VALUES } from '@svc/jsonl-v23/json';
import { decodeText } from './decode-text.ts';
import { encodingOf, isUtf8 } from './encodings.ts';
import {
  DEFAULT_MAX_ROW_SIZE,
  invalidRow,
  type LoaderParams,
  type RawRow,
  type TextOptions,
} from './raw-row.ts';
import { type ParsedRow, parseRow, readJsonl } from './read-jsonl.ts';

// A first line longer than this is not looked at whole to find out whether the file has one object a line.
const SNIFFED_BYTES = 1024 * 1024;

/**
 * Reads a JSON file row by row, whatever its form and its name: JSON Lines, an array of objects, an array of anything else
 * (column `text`), one object, several objects one after another. An object of columns is one row of lists, as in the
 * `datasets` library. One row is in memory.
 * @param params the card's parameters: `field` (the member that holds the rows), `encoding`, `encoding_errors`
 * @throws TableError `invalid_row` with file, line and column
 */
export async function* readJson(
  source: AsyncIterable<Uint8Array>,
  params: LoaderParams,
  options: TextOptions,
): AsyncGenerator<RawRow, void, undefined> {
  const { encoding, replaceErrors } = encodingOf(params);
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
    const text = decodeText(bytes, { file, encoding, replaceErrors, signal });
    await using json = new JsonStream(text, { file, maxValueLength: maxRowSize });
    try {
      if (field !== null) yield* readMember(json, field, file);
      else if ((await json.peek()) === 'array') {
        yield* readElements(json, file);
        await json.end();
      } else yield* readObjects(json, file);
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      throw invalidRow(error.message, error.location ?? { file }, error);
    }
  }
}

/** Whether the first line that is not blank is a whole object. Gives the bytes back as if nothing had been read. */
async function sniffLines(
  source: AsyncIterable<Uint8Array>,
  { signal }: TextOptions,
): Promise<{ lines: boolean; bytes: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = '';
  let isEnough = false;
  try {
    for (let size = 0; size < SNIFFED_BYTES && !isEnough; ) {
      signal?.throwIfAborted();
      const next = await iterator.next();
      if (next.done === true) break;
      head.push(next.value);
      size += next.value.length;
      text = (text + decoder.decode(next.value, { stream: true })).trimStart();
      isEnough = text !== '' && (!text.startsWith('{') || text.includes('\n'));
    }
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
  const [line = ''] = text.split('\n', 1);
  return { lines: isObjectLine(line), bytes: resume(head, iterator) };
}

function isObjectLine(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    parseRow(line);
    return true;
  } catch (error) {
    // The reader of lines reports other errors of a line better.
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

async function* readElements(json: JsonStream, file: string): AsyncGenerator<RawRow, void, undefined> {
  // The first element decides what all are: rows, or values of one column.
  let isWrapped: boolean | undefined;
  for await (const _ of json.items()) {
    const element = await readValue(json, file);
    isWrapped ??= !isJsonObject(element.value);
    const { value, text } = element;
    yield toRow(isWrapped ? { ...element, value: { text: value }, text: `{"text":${text}}` } : element);
  }
}

/** Objects one after another, separated by white space alone. */
async function* readObjects(json: JsonStream, file: string): AsyncGenerator<RawRow, void, undefined> {
  while ((await json.peek()) !== 'end') yield toRow(await readValue(json, file));
}

/** The rows in one member of the file's object: an array's elements, else the member's own value. */
async function* readMember(
  json: JsonStream,
  field: string,
  file: string,
): AsyncGenerator<RawRow, void, undefined> {
  for await (const key of json.members()) {
    if (key !== field) continue;
    if ((await json.peek()) === 'array') yield* readElements(json, file);
    else yield toRow(await readValue(json, file));
    return;
  }
  throw invalidRow(`The file has no member ${JSON.stringify(field)}.`, { file });
}

interface LocatedValue extends ParsedRow {
  readonly location: SourceLocation;
  readonly line: number;
  readonly size: number;
}

/** The next value, which may have a bounded number of values. Its location has no path: it is a row. */
async function readValue(json: JsonStream, file: string): Promise<LocatedValue> {
  const kind = await json.peek();
  const { path: _, ...location } = json.location;
  let text: string;
  try {
    ({ text } = await json.text());
  } catch (error) {
    // A value without an end is reported where it begins.
    if (!(error instanceof JsonlError) || kind === 'end') throw error;
    throw invalidRow(
      error.message,
      { file, ...(location.line !== undefined && { line: location.line }) },
      error,
    );
  }
  if (hasMoreValues(text, MAX_LINE_VALUES)) {
    throw invalidRow(`The row has more than ${MAX_LINE_VALUES} values.`, location);
  }
  return { ...parseRow(text, location), location, line: location.line ?? 1, size: text.length };
}

function toRow({ value, location, ...facts }: LocatedValue): RawRow {
  if (!isJsonObject(value)) throw invalidRow('The row is not an object.', location);
  return { ...facts, row: value };
}
