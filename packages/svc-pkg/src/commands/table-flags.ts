import { readFile, stat } from 'node:fs/promises';
import { JsonlError } from '@svc/jsonl-v23';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import { ANSWER_KINDS, type Mapping, readMapping } from '@svc/jsonl-v23/mapping';
import { FILE_FORMATS, type FormatHints } from '@svc/tabular';
import { given } from '../cli-context.ts';
import { toFileError, usageError } from '../errors/cli-error.ts';
import { choice, type Flag, grouped, text, unless, type Values } from './define-operation.ts';

/** A mapping as requests have it, and as this program uses it. */
export interface GivenMapping {
  readonly wire: JsonObject;
  readonly mapping: Mapping;
}

type Reader = (values: readonly string[]) => JsonValue;

const one: Reader = ([value = '']) => value;
const all: Reader = (values) => [...values];
const flag: Reader = () => true;
/** `key=value` and `value` as an object. */
const byKey: Reader = (values) => {
  const members: JsonObject = {};
  for (const value of values) {
    const at = value.indexOf('=');
    setMember(members, at === -1 ? value : value.slice(0, at), at === -1 ? value : value.slice(at + 1));
  }
  return members;
};
/** JSON if it is an object, else the name of a checker. */
const checker: Reader = ([value = '']) => {
  if (!value.trimStart().startsWith('{')) return value;
  try {
    return parseJson(value);
  } catch (cause) {
    throw usageError('--checker must be the name of a checker or a JSON object', { cause });
  }
};

/** The kinds of answers: `text (its text), …`. */
const ANSWERS = Object.entries(ANSWER_KINDS)
  .map(([kind, meaning]) => `${kind} (${meaning})`)
  .join(', ');

const KEYS: readonly (readonly [key: string, value: string, read: Reader, description: string])[] = [
  ['prompt_column', '<column>', one, 'becomes the prompt; a list of {role, content} becomes messages'],
  ['prompt_template', '<text>', one, 'the prompt as text with {column} placeholders; {{ is a brace'],
  ['answer_column', '<column>', one, 'becomes the reference answer'],
  ['answer_pattern', '<pattern>', one, "the answer is the pattern's first group in the answer's text"],
  ['answer_is', '<kind>', one, `what the answer is: ${ANSWERS}`],
  ['default_type', '<type>', one, 'type of every item (default: freeform)'],
  ['type_column', '<column>', one, "has the items' types"],
  ['system_prompt_column', '<column>', one, 'becomes the system prompt'],
  ['system_prompt_template', '<text>', one, 'the system prompt as text with {column} placeholders'],
  ['choices_column', '<column>', one, 'becomes the choices of a multiple-choice item'],
  ['choices_columns', '<column...>', all, 'become one choice each'],
  ['criteria_columns', '<column...>', all, 'become the criteria for a grader, in this order'],
  ['tags_columns', '<column...>', all, 'become tags'],
  ['tags', '<tag...>', all, 'tags of every item'],
  ['meta_columns', '<[key=]column...>', byKey, 'are kept in meta under their names or other keys'],
  ['assets_column', '<column>', one, 'becomes the assets: an object of entries, or an image'],
  ['id_column', '<column>', one, "becomes the item's id (default: <section>-<row index>)"],
  ['checker', '<checker>', checker, 'the checker of every item: its name, or a JSON object'],
  ['checker_column', '<column>', one, "has the items' checkers: objects, also as JSON, or names"],
  ['keep_unmapped', '', flag, 'keep the columns that no option names in meta'],
  ['types', '<column=type...>', byKey, 'types of columns: string, int64, float64, bool, json'],
  ['invalid_rows', '<what>', one, 'fail (default) or skip rows that do not become items'],
];

export const mappingFlags = (): { readonly mapping: Flag<string, false> } =>
  grouped('Columns:', {
    mapping: text('--mapping <file>', 'a JSON file with a mapping; the options below override its members'),
    ...Object.fromEntries(
      KEYS.map(([key, value, , description]) => [
        key,
        text(`--${key.replaceAll('_', '-')} ${value}`.trimEnd(), description),
      ]),
    ),
  });

const MAX_FILE_BYTES = 1024 * 1024;

/** Null without options for it. @throws CliError `usage`, `io_error`; JsonlError `invalid_mapping` */
export async function mappingOf(options: { readonly mapping?: string }): Promise<GivenMapping | null> {
  const { mapping: file, ...members }: Readonly<Record<string, string | readonly string[]>> = { ...options };
  const wire: JsonObject = typeof file === 'string' ? { ...(await readMappingFile(file)) } : {};
  for (const [key, , read] of KEYS) {
    const value = members[key];
    if (value === undefined) continue;
    wire[key] = read([value].flat());
  }
  if (Object.keys(wire).length === 0) return null;
  if (Object.keys(wire).join() === 'invalid_rows')
    throw usageError('--invalid-rows is for rows with a mapping, such as --prompt-column');
  return { wire, mapping: readMapping(wire) };
}

async function readMappingFile(path: string): Promise<JsonObject> {
  try {
    if ((await stat(path)).size > MAX_FILE_BYTES) {
      throw usageError('A mapping file must have at most 1 MiB', { location: { file: path } });
    }
    const value = parseJson(await readFile(path, 'utf8'));
    if (isJsonObject(value)) return value;
    throw usageError('A mapping file must hold a JSON object', { location: { file: path } });
  } catch (error) {
    if (error instanceof JsonlError) {
      throw new JsonlError(error.code, error.message, { ...error.location, file: path }, { cause: error });
    }
    throw toFileError(error, 'read', path);
  }
}

export const tableFlags = () => ({
  ...grouped('Files:', {
    format: choice('--format <format>', 'the format, where its detection is wrong', FILE_FORMATS),
    delimiter: text('--delimiter <character>', 'what separates the cells of CSV (default: detected)'),
    quote: text('--quote <character>', 'what encloses cells of CSV; empty for none (default: ")'),
    encoding: text('--encoding <name>', 'the encoding of a text file (default: detected)'),
    header: unless('--no-header', 'the first row of CSV has no names'),
  }),
  ...mappingFlags(),
});

export type TableOptions = Values<ReturnType<typeof tableFlags>>;

/** What the options say about the format of files; the rest is detected. */
export function hintsOf({ format, delimiter, quote, encoding, header }: TableOptions): FormatHints {
  return given({
    format,
    delimiter: delimiter === '\\t' ? '\t' : delimiter,
    quote: quote === '' ? null : quote,
    encoding,
    header: header === false ? header : undefined,
  });
}

/** The form fields of an upload that say how to read its tables. */
export async function tableFields(options: TableOptions): Promise<Record<string, string>> {
  const mapping = await mappingOf(options);
  const { format, ...written } = hintsOf(options);
  return given({
    mapping: mapping === null ? undefined : canonicalJson(mapping.wire),
    format,
    options: Object.keys(written).length === 0 ? undefined : JSON.stringify(written),
  }) as Record<string, string>;
}
