import { isJsonObject, JsonlError, type JsonObject, JsonStream, tryParseJson } from '@svc/jsonl-v23/json';
import { TableError } from '../errors.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { inSlices } from '../source/turns.ts';
import { CachedFile } from '../text/cached-file.ts';
import { decodeText } from '../text/decode-text.ts';
import { type DetectedFile, type FormatHints, formatByName } from './file-format.ts';
import type { NoTable } from './known-kinds.ts';

interface JsonHead {
  readonly text: string;
  readonly isWhole: boolean;
  readonly encoding: string;
  readonly hints: FormatHints;
  readonly signal: AbortSignal | undefined;
}

/** Which JSON a file is, and whether it is one object, which a file of configuration is, too. */
type DetectedJson = Pick<DetectedFile, 'format' | 'options'> & { readonly isObject?: boolean };

/** The rows of an object come after at most so much else. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;

/** A reason for JSON without rows; null if it is none, so that it may be another text. */
export async function detectJson(source: ByteSource, head: JsonHead): Promise<DetectedJson | NoTable | null> {
  const { text, hints } = head;
  if (hints.format === 'jsonl') return { format: 'jsonl', options: {} };
  if (hints.field !== undefined) return { format: 'json', options: { field: hints.field } };
  const named = formatByName(source.path);
  const isNamedLines = named === 'jsonl';
  const first = firstLine(text, head.isWhole);
  if (!text.startsWith('{')) {
    const isArray = text.startsWith('[');
    if (/^\[\s*(?:\{|\]\s*$)/.test(text) || (isArray && hints.format === 'json')) {
      return { format: 'json', options: {} };
    }
    const isNamed = named === 'json' || isNamedLines;
    const isRefused =
      (isNamed && (isArray || (first.isComplete && isJson(first.line)))) ||
      hints.format === 'json' ||
      (head.isWhole && isJson(text));
    return isRefused ? NO_ROWS : null;
  }
  const object = tryParseJson(first.line);
  const value = isJsonObject(object) ? object : null;
  if (hints.format === undefined && value === null && first.isComplete && !/^\{\s*(?:"|\}|$)/.test(text)) {
    return null;
  }
  if (!isNamedLines && (first.isOnly || value === null)) {
    const turned = turnedTable(head);
    if (turned !== null) return turned;
  }
  if (value !== null) {
    const field = isNamedLines || !first.isOnly ? null : fieldOf(value);
    if (field !== null) return { format: 'json', options: { field } };
    if (hints.format === 'json' && first.isOnly) return NO_ROWS;
    return { format: 'jsonl', options: {}, isObject: !isNamedLines && first.isOnly && isOther(value) };
  }
  const field = isNamedLines ? null : await findField(source, head);
  if (field !== null) return { format: 'json', options: { field } };
  if (hints.format === 'json') return NO_ROWS;
  const whole = head.isWhole && !isNamedLines ? tryParseJson(text) : undefined;
  return { format: 'jsonl', options: {}, isObject: isJsonObject(whole) && isOther(whole) };
}

const isOther = (object: JsonObject): boolean => !Object.hasOwn(object, 'inputs');

const isJson = (text: string): boolean => tryParseJson(text) !== undefined;

function firstLine(text: string, isWhole: boolean) {
  const end = text.indexOf('\n');
  const line = end === -1 ? text : text.slice(0, end);
  return {
    line,
    isComplete: end !== -1 || isWhole,
    isOnly: isWhole && text.trimEnd().length <= line.length,
  };
}

/** How pandas begins a table that it does not write row by row. */
const TURNED_TABLES: readonly (readonly [orient: 'index' | 'columns' | 'split', start: RegExp])[] = [
  ['index', /^\{\s*"0"\s*:\s*\{/],
  ['columns', /^\{\s*"(?:[^"\\]|\\.){0,1000}"\s*:\s*\{\s*"0"\s*:/],
  ['split', /^\{\s*"columns"\s*:\s*\[/],
];

/** Why an object that is a whole table, and would become one row, is not read; null for any other. */
function turnedTable({ text, isWhole }: JsonHead): NoTable | null {
  const [orient] = TURNED_TABLES.find(([, start]) => start.test(text)) ?? [];
  if (orient === undefined) return null;
  const value = isWhole ? tryParseJson(text) : null;
  // An object of other things may begin alike; of a large one only the beginning is known.
  if (isWhole && !isJsonObject(value)) return null;
  if (orient === 'split') {
    const parts = ['columns', 'index', 'data'];
    const isTable = isJsonObject(value)
      ? parts.every((part) => Object.hasOwn(value, part) && Array.isArray(value[part]))
      : text.includes('"index"');
    if (!isTable) return null;
  } else if (isJsonObject(value) && !Object.values(value).every((member) => isJsonObject(member)))
    return null;
  return {
    reason: `it is a table in one object, as pandas writes it with orient="${orient}"`,
    advice: '. Write it with orient="records", or name the format `jsonl` if it is one row',
  };
}

/** The one member of an object that is an array of objects; an item, which has inputs, has none. */
function fieldOf(object: Readonly<Record<string, unknown>>): string | null {
  if (Object.hasOwn(object, 'inputs')) return null;
  const arrays = Object.entries(object).filter(
    ([, value]) => Array.isArray(value) && value.length > 0 && value.every((row) => isJsonObject(row)),
  );
  return arrays.length === 1 ? (arrays[0]?.[0] ?? null) : null;
}

async function findField(source: ByteSource, head: JsonHead): Promise<string | null> {
  await using json = openJson(source, head);
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

function openJson(source: ByteSource, { encoding, signal }: JsonHead): JsonStream {
  const content = upTo(new CachedFile(source).read(signal), MAX_SEARCHED_BYTES);
  const file = source.path;
  return new JsonStream(decodeText(inSlices(content), { file, encoding, signal }), { file });
}

const NO_ROWS: NoTable = {
  reason: 'its JSON is not an array of objects, nor an object with one such array',
};

/** Whether each object of the first lines has `inputs`. Lines that are no JSON are reported later, as lines. */
export async function holdsItems(source: ByteSource, head: JsonHead): Promise<boolean> {
  const lines = head.text.split('\n');
  if (!head.isWhole) lines.pop();
  if (lines.length === 0) return await firstHasInputs(source, head);
  return lines.every((line) => {
    const value = tryParseJson(line);
    return !isJsonObject(value) || Object.hasOwn(value, 'inputs');
  });
}

/** Whether the first object has `inputs`, or is too long to tell. */
async function firstHasInputs(source: ByteSource, head: JsonHead): Promise<boolean> {
  await using json = openJson(source, head);
  try {
    for await (const key of json.members()) if (key === 'inputs') return true;
    return false;
  } catch (error) {
    if (error instanceof JsonlError || error instanceof TableError) return true;
    throw error;
  }
}

async function* upTo(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
