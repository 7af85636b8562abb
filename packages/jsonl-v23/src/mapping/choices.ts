import { JsonlError } from '../errors.ts';
import {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';

/** A token of a Python list or dictionary, or of NumPy's arrays in one. */
const TOKEN =
  /[ \t\r\n]+|[uU]?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")|(?:np\.|numpy\.)?array\(|,[ \t\r\n]*dtype=[\w.<']+[ \t\r\n]*\)|[[\]{}:,)]|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|None|True|False/sy;

/** Characters. No options of a question are longer, and it takes the thread that serves requests some milliseconds. */
const MAX_LENGTH = 64 * 1024;

const WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

/**
 * The value of a list or a dictionary as Python or NumPy prints it, such as `['a', "it's"]`, or `['a' 'b']` of an array.
 * Takes linear time.
 *
 * @returns undefined for any other text, or one longer than 64 KiB
 */
function parsePythonList(text: string): JsonValue | undefined {
  if (text.length > MAX_LENGTH || !/^[ \t\r\n]*[[{]/.test(text)) return undefined;
  const parts: string[] = [];
  let afterText = false;
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [token, single, double] = match;
    at += token.length;
    const quoted = single ?? double;
    if (quoted !== undefined) {
      // NumPy writes no commas.
      parts.push(afterText ? ',' : '', JSON.stringify(unescaped(quoted)));
    } else if (!/^[ \t\r\n]/.test(token) && !token.endsWith('(') && !token.endsWith(')')) {
      parts.push(WORDS[token] ?? token);
    }
    afterText = quoted !== undefined || (afterText && /^[ \t\r\n]/.test(token));
  }
  try {
    return parseJson(parts.join('').replace(/,(?=[\]}]$)/, ''));
  } catch (error) {
    if (error instanceof JsonlError) return undefined;
    throw error;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\n': '' };

/** A text without Python's escapes. */
function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U000([0-9a-fA-F]{5})|(.))/gs,
    (_, byte?: string, unit?: string, point?: string, char = '') => {
      const code = byte ?? unit ?? point;
      return code === undefined ? (ESCAPES[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16));
    },
  );
}

/**
 * The options of a multiple-choice item, or null if a value has none of these forms:
 *
 * - an array: itself, but `{key, value}` and the like in it become `{label, text}`;
 * - an object of labels and texts, `{A: 'x', B: 'y'}`: `[{label: 'A', text: 'x'}, ...]`, in the order A to Z, AA or 1 to 9,
 *   10, because canonical JSON has no order of its own; nulls are left out;
 * - an object of two or more arrays of one length, `{text: [...], label: [...]}`: an array of objects with the
 *   same keys, `[{label, text}, ...]`;
 * - a text that is an array, or an object with labels or with `text`, in JSON or as Python prints it: as above.
 */
export function readChoices(value: JsonValue): JsonValue[] | null {
  if (Array.isArray(value)) return withNames(value);
  if (typeof value === 'string') {
    const parsed = parseText(value);
    if (Array.isArray(parsed)) return withNames(parsed);
    if (!isJsonObject(parsed)) return null;
    return Array.isArray(getMember(parsed, 'text')) ? zip(parsed) : byLabel(parsed);
  }
  return isJsonObject(value) ? (zip(value) ?? byLabel(value)) : null;
}

/** The options in a cell of a dataset as {@link readChoices} reads them; any other primitive is the only option. */
export function toChoices(cell: JsonValue): JsonValue[] | null {
  return readChoices(cell) ?? (isJsonObject(cell) ? null : [cell]);
}

/** The label that a choice states itself, as text without white space around it; null without one. */
export function choiceLabel(choice: JsonValue): string | null {
  const label = isJsonObject(choice) ? (getMember(choice, 'label') ?? null) : null;
  if (label === null || isNested(label)) return null;
  const text = (label instanceof ExactNumber ? label.text : String(label)).trim();
  return text === '' ? null : text;
}

/** What a choice says: its text, or the choice itself. */
export const choiceContent = (choice: JsonValue): JsonValue =>
  (isJsonObject(choice) ? getMember(choice, 'text') : undefined) ?? choice;

/** What datasets call the label and the text of a choice. */
const LABEL_KEYS = ['label', 'key', 'letter', 'id'];
const TEXT_KEYS = ['text', 'value', 'content', 'option'];

/** Choices of one label and one text by their usual names as `{label, text}`; any other list as it is. */
function withNames(choices: JsonValue[]): JsonValue[] {
  return isJsonObject(choices[0]) ? choices.map(named) : choices;
}

function named(choice: JsonValue): JsonValue {
  if (!isJsonObject(choice) || Object.keys(choice).length !== 2 || Object.hasOwn(choice, 'text'))
    return choice;
  const [label, text] = [LABEL_KEYS, TEXT_KEYS].map((keys) => keys.find((key) => Object.hasOwn(choice, key)));
  if (label === undefined || text === undefined) return choice;
  return { label: choice[label] as JsonValue, text: choice[text] as JsonValue };
}

/** The first character excludes most cells without parsing. */
function parseText(text: string): JsonValue | undefined {
  if (!/^[ \t\n\r]*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonlError) return parsePythonList(text);
    throw error;
  }
}

function zip(columns: JsonObject): JsonValue[] | null {
  const keys = Object.keys(columns);
  const [first, ...others] = keys.map((key) => columns[key]);
  if (keys.length < 2 || !Array.isArray(first)) return null;
  if (!others.every((column) => Array.isArray(column) && column.length === first.length)) return null;
  const choices = first.map((_, index) => {
    const choice: JsonObject = {};
    for (const key of keys) setMember(choice, key, (columns[key] as JsonValue[])[index] as JsonValue);
    return choice;
  });
  return withNames(choices);
}

function byLabel(texts: JsonObject): JsonValue[] | null {
  // This is one choice.
  if (choiceLabel(texts) !== null && choiceContent(texts) !== texts) return null;
  const labels = Object.keys(texts).filter((label) => texts[label] !== null);
  if (labels.length < 2 || labels.some((label) => isNested(texts[label]))) return null;
  labels.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return labels.map((label) => ({ label, text: texts[label] as JsonValue }));
}

const isNested = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' && !(value instanceof ExactNumber);
