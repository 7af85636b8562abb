import { canonicalJson } from '../json/canonical/canonical-json.ts';
import {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { tryParseJson } from '../json/parse-json.ts';
import type { AnswerKind } from './mapping.ts';

/** A token of a Python list or dictionary, or of NumPy's arrays in one. */
const TOKEN =
  /[ \t\r\n]+|[uU]?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")|(?:np\.|numpy\.)?array\(|,[ \t\r\n]*dtype=[\w.<']+[ \t\r\n]*\)|[[\]{}:,)]|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|None|True|False/sy;

/** Characters. No options of a question are longer, and it takes the thread that serves requests some milliseconds. */
const MAX_LENGTH = 64 * 1024;

const WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

/** The value of a Python or NumPy list or dictionary, such as `['a', "it's"]`; in linear time, up to 64 KiB. */
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
  return tryParseJson(parts.join('').replace(/,(?=[\]}]$)/, ''));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\n': '' };

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
  return tryParseJson(text) ?? parsePythonList(text);
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

/** The text of the choice that an answer names; a list for a list of answers. Undefined if an answer names none. */
export function chooseAnswer(
  kind: AnswerKind,
  answer: JsonValue,
  choices: readonly JsonValue[],
): JsonValue | undefined {
  const meant = choicesMeant(kind, answer, choices);
  if (meant === undefined) return undefined;
  const texts = meant.map((index) => choiceContent(choices[index] as JsonValue));
  return Array.isArray(answer) ? texts : texts[0];
}

/**
 * The indexes of the choices that an answer, or each of a list of answers, names:
 *
 * - `text`: the choice has this text, whatever the case;
 * - `letter`: the choice has this label, or this place in the alphabet;
 * - `label`: the choice has this label, or this letter if no choice has a label of its own;
 * - `index`, `number`: the choice has this place, from 0 or from 1.
 *
 * @returns undefined if one of them names no choice, and for an empty list
 */
export function choicesMeant(
  kind: AnswerKind,
  answer: JsonValue,
  choices: readonly JsonValue[],
): number[] | undefined {
  const answers = Array.isArray(answer) ? answer : [answer];
  const meant = answers.map((one) => choiceMeant(kind, one, choices));
  return meant.length > 0 && meant.every((index) => index !== undefined) ? meant : undefined;
}

function choiceMeant(kind: AnswerKind, answer: JsonValue, choices: readonly JsonValue[]): number | undefined {
  if (answer === null || Array.isArray(answer) || isJsonObject(answer)) return undefined;
  const index = INDEX_OF[kind](toText(answer).trim(), choices);
  const isChoice = index !== undefined && (choices[index] ?? null) !== null;
  return isChoice ? index : undefined;
}

type IndexOf = (text: string, choices: readonly JsonValue[]) => number | undefined;

const INDEX_OF: Readonly<Record<AnswerKind, IndexOf>> = {
  text: (text, choices) =>
    indexAmong(
      text,
      choices.map((choice) => toText(choiceContent(choice)).trim()),
    ),
  letter: (text, choices) => indexAmong(text, choices.map(choiceLabel)) ?? indexOfLetter(text),
  label: (text, choices) => {
    const labels = choices.map(choiceLabel);
    return labels.some((label) => label !== null) ? indexAmong(text, labels) : indexOfLetter(text);
  },
  index: (text) => toCount(text),
  number: (text) => {
    const number = toCount(text);
    return number === undefined ? undefined : number - 1;
  },
};

/** The first equal text, else the first that only differs in case. */
function indexAmong(text: string, texts: readonly (string | null)[]): number | undefined {
  const exact = texts.indexOf(text);
  const found = exact === -1 ? texts.findIndex((one) => one?.toLowerCase() === text.toLowerCase()) : exact;
  return found === -1 ? undefined : found;
}

const indexOfLetter = (text: string): number | undefined =>
  /^[A-Z]$/i.test(text) ? text.toUpperCase().charCodeAt(0) - 'A'.charCodeAt(0) : undefined;

const toCount = (text: string): number | undefined =>
  /^(?:0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : undefined;

function toText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return value instanceof ExactNumber ? value.text : canonicalJson(value);
}

/** One option of a multiple-choice item as the model sees it. */
export interface LabelledChoice {
  /** The choice's own label, else a letter. */
  readonly label: string;
  readonly text: string;
}

/** The choices of an item, and whether their labels come from the item. */
export interface LabelledChoices {
  readonly choices: readonly LabelledChoice[];
  readonly ownLabels: boolean;
}

/**
 * The choices of an item with their labels, in any form that a mapping reads. `{label, text}` objects keep their labels if
 * every choice has one and all are different; otherwise the labels are A to Z, AA, AB and so on. A choice that is not text
 * becomes JSON text.
 */
export function labelledChoices(item: JsonObject): LabelledChoices {
  const values = readChoices(choicesOf(item) ?? null) ?? [];
  const own = values.map(choiceLabel);
  const ownLabels =
    own.length > 0 && own.every((label) => label !== null) && new Set(own).size === own.length;
  const choices = values.map((value, index) => {
    const text = choiceContent(value);
    return {
      label: (ownLabels ? own[index] : null) ?? letter(index),
      text: typeof text === 'string' ? text : canonicalJson(text),
    };
  });
  return { choices, ownLabels };
}

/** The member that lists the choices of an item, as it is. */
export function choicesOf(item: JsonObject): JsonValue | undefined {
  const inputs = getMember(item, 'inputs');
  return isJsonObject(inputs) ? getMember(inputs, 'choices') : undefined;
}

/** The letter of the choice at `index`, from 0: A to Z, then AA, AB ... like the columns of a spreadsheet. */
export function letter(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letter(Math.floor(index / 26) - 1) + last;
}
