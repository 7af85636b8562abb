import { isJsonObject, JsonlError, JsonStream, parseJson } from '@svc/jsonl-v23/json';
import { TableError } from '../errors.ts';
import { suffixes } from '../format.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { CachedFile } from '../text/cached-file.ts';
import { decodeText } from '../text/decode-text.ts';
import type { FileOptions, FormatHints } from './file-format.ts';

/** A format of JSON. */
export interface DetectedJson {
  readonly format: 'json' | 'jsonl';
  readonly options: FileOptions;
}

/** What the head of the file says. */
interface JsonHead {
  /** From its first character that is not white space. */
  readonly text: string;
  readonly isWhole: boolean;
  readonly encoding: string;
  readonly hints: FormatHints;
  readonly signal: AbortSignal | undefined;
}

/** The rows of an object come after at most so much else. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;

/**
 * Which JSON a file is: an array of objects, JSON Lines, or an object with one array of objects. Null if it is none of
 * them, so that it may be another text.
 *
 * @throws TableError `unsupported_file` for JSON without rows
 */
export async function detectJson(source: ByteSource, head: JsonHead): Promise<DetectedJson | null> {
  const { text, hints } = head;
  if (hints.format === 'jsonl') return { format: 'jsonl', options: {} };
  if (hints.field !== undefined) return { format: 'json', options: { field: hints.field } };
  if (text.startsWith('[')) {
    const isRows = /^\[\s*(?:\{|\]\s*$)/.test(text);
    if (isRows || hints.format === 'json') return { format: 'json', options: {} };
    return null;
  }
  const isNamedLines = suffixes(source.path.toLowerCase()).some(
    (suffix) => suffix === 'jsonl' || suffix === 'ndjson',
  );
  const first = firstLine(text, head.isWhole);
  if (
    hints.format === undefined &&
    first.value === null &&
    first.isComplete &&
    !/^\{\s*(?:"|\}|$)/.test(text)
  ) {
    return null;
  }
  if (first.value !== null) {
    const field = isNamedLines || !first.isOnly ? null : fieldOf(first.value);
    if (field !== null) return { format: 'json', options: { field } };
    return hints.format === 'json' && first.isOnly
      ? throwNoRows(source.path)
      : { format: 'jsonl', options: {} };
  }
  const field = isNamedLines ? null : await findField(source, head);
  if (field !== null) return { format: 'json', options: { field } };
  if (hints.format === 'json') return throwNoRows(source.path);
  return { format: 'jsonl', options: {} };
}

/** The object on the first line, if it is one. */
function firstLine(text: string, isWhole: boolean) {
  const end = text.indexOf('\n');
  const line = end === -1 ? text : text.slice(0, end);
  const isComplete = end !== -1 || isWhole;
  const isOnly = isWhole && (end === -1 || text.slice(end).trim() === '');
  try {
    const value = parseJson(line);
    return { value: isJsonObject(value) ? value : null, isComplete, isOnly };
  } catch (error) {
    if (error instanceof JsonlError) return { value: null, isComplete, isOnly };
    throw error;
  }
}

/** The one member of an object that is an array of objects; an item, which has inputs, has none. */
function fieldOf(object: Readonly<Record<string, unknown>>): string | null {
  if (Object.hasOwn(object, 'inputs')) return null;
  const arrays = Object.entries(object).filter(
    ([, value]) => Array.isArray(value) && value.length > 0 && value.every((row) => isJsonObject(row)),
  );
  return arrays.length === 1 ? (arrays[0]?.[0] ?? null) : null;
}

/** The first member of the file's object that is an array whose first element is an object. */
async function findField(source: ByteSource, { encoding, signal }: JsonHead): Promise<string | null> {
  const content = new CachedFile(source, { bytes: 0 }).read(signal);
  const text = decodeText(upTo(content, MAX_SEARCHED_BYTES), { file: source.path, encoding, signal });
  await using json = new JsonStream(text, { file: source.path });
  try {
    for await (const key of json.members()) {
      if ((await json.peek()) !== 'array') continue;
      for await (const index of json.items()) {
        if (index === 0 && (await json.peek()) === 'object') return key;
      }
    }
  } catch (error) {
    // The reader of the rows reports what is wrong.
    if (!(error instanceof JsonlError) && !(error instanceof TableError)) throw error;
  }
  return null;
}

async function* upTo(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

function throwNoRows(file: string): never {
  const message = 'Cannot read the file: its object has no array of objects, or several of them.';
  throw new TableError('unsupported_file', message, { location: { file } });
}
