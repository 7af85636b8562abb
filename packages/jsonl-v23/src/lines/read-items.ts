import { JsonlError } from '../errors.ts';
import type { Item, ItemInput } from '../item/item.ts';
import { parseItem, readItem } from '../item/parse-item.ts';
import { countLineFeeds, validUtf8Length } from '../json/bytes.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { HIGHEST_MAX_DEPTH, JsonReader } from '../json/parse-json.ts';
import { locateValue } from '../json/value-scanner.ts';
import { checkNumber, checkText } from '../options.ts';
import { lineLocation, type SourceLocation } from '../source-location.ts';
import { type ChunkSource, chunksOf, isWebStream } from '../streams.ts';
import { byteChunks, type ItemSource } from './byte-chunks.ts';
import { type CutLine, type LineBatch, LineCutter, splitLines } from './line-cutter.ts';

/** An item and its location. */
export interface LocatedItem {
  readonly item: Item;
  /** File (if named) and line. */
  readonly location: SourceLocation;
}

/**
 * Reads the items of a JSON Lines file as they arrive: from a text, from bytes, or from a stream of either. Holds one batch
 * of lines.
 *
 * Accepts a byte order mark at the start, CRLF, blank lines and a missing line end at the end of the file; blank lines
 * count as lines. A surrogate that is not in a pair is refused as bytes that are not UTF-8; its escape is not. Yields the
 * items before a faulty line before it throws. `signal` aborts it immediately.
 *
 * @throws JsonlError with file, line and, if known, column and JSON Pointer: `invalid_utf8`, `line_too_long`,
 * `not_an_object`, and the codes of `parseJson` and `parseItem`; TypeError for another kind of source
 *
 * @example for await (const { item, location } of readItems(createReadStream('a.jsonl'), { file: 'a.jsonl' })) ...
 */
export async function* readItems(
  source: ItemSource,
  options: CheckItemsOptions = {},
): AsyncGenerator<LocatedItem, void, undefined> {
  checkReadOptions(options);
  for await (const batch of splitLines(byteChunks(source), options)) {
    for (const located of itemsOf(batch, options)) {
      options.signal?.throwIfAborted();
      yield located;
    }
  }
}

/** A pure function, so that threads can call it. @throws JsonlError as `readItems` does, at the first faulty line */
export function parseLines(
  batch: LineBatch,
  options: { file?: string; maxDepth?: number } = {},
): LocatedItem[] {
  return [...itemsOf(batch, options)];
}

function* itemsOf(
  batch: LineBatch,
  options: { file?: string; maxDepth?: number },
): Generator<LocatedItem, void, undefined> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(batch.bytes);
  } catch {
    yield* itemsBeforeBadBytes(batch, options);
    return;
  }

  const reader = new JsonReader(text, options.maxDepth);
  let line = batch.firstLine;
  for (let start = 0; start < text.length; line++) {
    const lineFeed = text.indexOf('\n', start);
    const end = lineFeed === -1 ? text.length : lineFeed;
    if (!isBlank(text, start, end)) {
      const location = lineLocation(line, options.file);
      const value = reader.read(start, end, location);
      yield { item: itemAt(value, text, start, location), location };
    }
    start = end + 1;
  }
}

/** The item of a line; its errors also have the column of the invalid value. */
function itemAt(value: JsonValue, text: string, lineStart: number, location: SourceLocation): Item {
  try {
    return parseItem(value, location);
  } catch (error) {
    throw error instanceof JsonlError ? withColumn(error, text, lineStart) : error;
  }
}

/** An error with the column of the value that its JSON Pointer names, in the text of a line. Takes time linear in the line. */
function withColumn(error: JsonlError, text: string, lineStart: number): JsonlError {
  const { code, message, location, cause } = error;
  if (location.path === undefined) return error;
  const column = locateValue(text, lineStart, location.path) - lineStart + 1;
  return new JsonlError(code, message, { column, ...location }, { cause });
}

/** Yields the items of the lines before the one that is not UTF-8, and throws. */
function* itemsBeforeBadBytes(
  batch: LineBatch,
  options: { file?: string; maxDepth?: number },
): Generator<LocatedItem, void, undefined> {
  const { bytes, firstLine } = batch;
  const badByte = validUtf8Length(bytes);
  const lineStart = bytes.subarray(0, badByte).lastIndexOf(10) + 1;
  const before = bytes.subarray(0, lineStart);
  yield* itemsOf({ ...batch, bytes: before }, options);

  const column =
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(lineStart, badByte)).length + 1;
  throw new JsonlError('invalid_utf8', `${nameInvalid(bytes, badByte)} is not valid UTF-8`, {
    ...lineLocation(firstLine + countLineFeeds(before), options.file),
    column,
  });
}

/** What is not UTF-8 at an index: a surrogate, which a text can have, or else a byte. */
function nameInvalid(bytes: Uint8Array, index: number): string {
  const [first = 0, second = 0, third = 0] = bytes.subarray(index, index + 3);
  const hex = (code: number): string => code.toString(16).toUpperCase().padStart(2, '0');
  const isSurrogate = first === 0xed && (second & 0xe0) === 0xa0 && (third & 0xc0) === 0x80;
  return isSurrogate
    ? `The lone surrogate U+${hex(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f))}`
    : `Byte ${hex(first)}`;
}

/** Whether a line has only spaces, tabs and carriage returns. Other blanks are not white space in JSON. */
export function isBlank(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code !== 32 && code !== 9 && code !== 13) return false;
  }
  return true;
}

/** A line that is not blank: its item, or why it is not one. */
export type CheckedItem =
  | {
      readonly location: SourceLocation;
      readonly item: Item;
      readonly error?: undefined;
      readonly errors?: undefined;
    }
  | {
      readonly location: SourceLocation;
      readonly item?: undefined;
      /** The first error, which `readItems` throws. */
      readonly error: JsonlError;
      /** All errors of the line, this one included; at most 10, because finding the column of each reads the line again. */
      readonly errors: readonly JsonlError[];
    };

const MAX_LINE_ERRORS = 10;

/**
 * Checks every line of a JSON Lines file: reads as `readItems` does, but continues after a faulty line. Holds one batch of
 * lines.
 *
 * @throws TypeError for another kind of source; the signal's reason; what the source throws
 *
 * @example
 * for await (const { errors = [] } of checkItems(createReadStream('a.jsonl'), { file: 'a.jsonl' })) {
 *   for (const error of errors) console.log(formatLocation(error.location), error.message);
 * }
 */
export async function* checkItems(
  source: ItemSource,
  options: CheckItemsOptions = {},
): AsyncGenerator<CheckedItem, void, undefined> {
  checkReadOptions(options);
  const { signal } = options;
  for await (const lines of new LineCutter(options).lines(byteChunks(source))) {
    for (const line of lines) {
      signal?.throwIfAborted();
      const checked = checkLine(line, options);
      if (checked !== null) yield checked;
    }
  }
}

/** The item of one line, or its errors; null for a blank line. */
export function checkLine(
  { line, bytes, fault }: CutLine,
  options: Pick<CheckItemsOptions, 'file' | 'maxDepth'>,
): CheckedItem | null {
  const location = lineLocation(line, options.file);
  if (fault !== null) {
    const error = new JsonlError('line_too_long', `Line ${line} ${fault}`, location);
    return { location, error, errors: [error] };
  }
  try {
    const [located] = parseLines({ bytes, firstLine: line, lineCount: 1, itemCount: 1 }, options);
    return located ?? null;
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const errors = isOfItem(error) ? lineErrors(bytes, location, options.maxDepth) : [error];
    return { location, error, errors };
  }
}

/** Whether an error concerns a part of an item, so that there can be more. */
const isOfItem = ({ code }: JsonlError): boolean =>
  code === 'invalid_item' || code === 'invalid_asset' || code === 'missing_file';

function lineErrors(
  bytes: Uint8Array,
  location: SourceLocation,
  maxDepth: number | undefined,
): readonly JsonlError[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const value = new JsonReader(text, maxDepth).read(0, text.length, location);
  return readItem(value, location, MAX_LINE_ERRORS).errors.map((error) => withColumn(error, text, 0));
}

/** Options of `readItems` and `checkItems`. */
export interface CheckItemsOptions {
  /** The name of the file in locations. */
  readonly file?: string;
  /** Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** Levels of nesting, default 256, at most 1,000. */
  readonly maxDepth?: number;
  readonly signal?: AbortSignal | undefined;
}

/** @throws TypeError, RangeError for an option that cannot be */
function checkReadOptions(options: CheckItemsOptions): void {
  checkText('file', options.file);
  checkNumber('maxLineBytes', options.maxLineBytes, { min: 1 });
  checkNumber('maxDepth', options.maxDepth, { min: 1, max: HIGHEST_MAX_DEPTH });
}

/** Bytes of a chunk, so that small items share one. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Writes items as JSON Lines: one canonical text per line, each with a line feed, in UTF-8 chunks of about 64 KiB that
 * end with a line. Items are pulled only when the next chunk is.
 *
 * @throws JsonlError as `parseItem` and `canonicalJson` do, `parseItem` with the index of the item as its `row`; what the
 *   source throws
 *
 * @example for await (const chunk of writeItems(items)) file.write(chunk);
 */
export async function* writeItems(
  items: ChunkSource<ItemInput> | Iterable<ItemInput>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let text = '';
  let row = 0;
  for await (const item of isWebStream(items) ? chunksOf<ItemInput>(items) : items) {
    text += `${canonicalJson(parseItem(item, { row }))}\n`;
    row += 1;
    if (text.length >= CHUNK_BYTES) {
      yield encoder.encode(text);
      text = '';
    }
  }
  if (text !== '') yield encoder.encode(text);
}
