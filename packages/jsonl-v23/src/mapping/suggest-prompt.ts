import type { JsonObject, JsonValue } from '../json/json-value.ts';
import {
  COLUMN_NAMES,
  isAnswerName,
  isFactName,
  isPassageName,
  otherHalfOf,
  plainName,
} from './column-names.ts';
import type { MappableFeature } from './compile-mapping.ts';
import type { SuggestedPart } from './mapping.ts';
import { isConversation } from './row-to-item.ts';

export const TEXT: RegExp = /^(?:string|large_string|string_view)$/;
const MESSAGES = /^(?:large_)?list<struct<(?=.*\brole: )(?=.*\bcontent: )/;

/** A column named like a question, or else the only texts; a template if it is about a passage or another text. */
export function suggestPrompt(
  features: readonly MappableFeature[],
  rows: readonly JsonObject[],
): SuggestedPart | null {
  const question = namedPrompt(features, rows) ?? onlyText(features, rows);
  if (question === null) return null;
  const { name, reason } = question;
  const only = { mapping: { promptColumn: name }, columns: [name], reasons: { prompt_column: reason } };
  const texts = features.filter((feature) => feature.name !== name && isText(feature)).map((one) => one.name);
  // Instructions without an input have an empty column for it, and only rows tell.
  const isUsed = (one: string): boolean => half !== 'input' || rows.some((row) => (row[one] ?? '') !== '');
  const half = otherHalfOf(name);
  const partner = half === null ? undefined : texts.find((one) => plainName(one) === half && isUsed(one));
  const passage = partner ?? texts.find(isPassageName);
  const isTextual = features.some((feature) => feature.name === name && isText(feature));
  if (passage === undefined || !isTextual || [passage, name].some((one) => /[{}]/.test(one))) {
    return { ...only, warnings: [] };
  }
  const shown = JSON.stringify(passage);
  if (rows.some((row) => (row[passage] ?? null) === null)) {
    const warning = `Column ${shown} looks like a text that questions are about, but is null in some rows: no prompt has it.`;
    return { ...only, warnings: [warning] };
  }
  const columns = partner === undefined ? [passage, name] : [name, passage];
  return {
    mapping: { promptTemplate: columns.map((column) => `{${column}}`).join('\n\n') },
    columns,
    reasons: {
      prompt_template:
        partner === undefined
          ? `${reason} Column ${shown} has the name of a text that questions are about.`
          : `${reason} Column ${shown} has the name of its other half.`,
    },
    warnings: [],
  };
}

interface Question {
  readonly name: string;
  readonly reason: string;
}

const isText = ({ dtype, classLabelNames }: MappableFeature): boolean => TEXT.test(dtype) && !classLabelNames;

/** Names of questions; the other names may name anything. */
const CLEAR_NAMES = 5;

function namedPrompt(features: readonly MappableFeature[], rows: readonly JsonObject[]): Question | null {
  const { prompt } = COLUMN_NAMES;
  const halves = features.map(({ name }) => plainName(name)).filter((name) => otherHalfOf(name) !== null);
  const candidates = [...prompt, ...halves].flatMap((wanted, rank) =>
    features
      .filter((feature) => plainName(feature.name) === wanted && mayBePrompt(feature, rows))
      .map(({ name }) => ({ name, rank, isCategory: isCategory(rows.map((row) => row[name] ?? null)) })),
  );
  const found =
    candidates.find(({ isCategory }) => !isCategory) ?? candidates.find(({ rank }) => rank < CLEAR_NAMES);
  if (found === undefined) return null;
  return { name: found.name, reason: `Column ${JSON.stringify(found.name)} has the name of a prompt.` };
}

function mayBePrompt(feature: MappableFeature, rows: readonly JsonObject[]): boolean {
  if (isText(feature) || MESSAGES.test(feature.dtype)) return true;
  return rows.length > 0 && rows.every((row) => isConversation(row[feature.name] ?? null));
}

/** The only column of texts, unless a question is there in a form that is no prompt. */
function onlyText(features: readonly MappableFeature[], rows: readonly JsonObject[]): Question | null {
  const questions = [...COLUMN_NAMES.prompt, ...COLUMN_NAMES.turns];
  if (features.some((one) => !TEXT.test(one.dtype) && questions.includes(plainName(one.name)))) return null;
  const { system, id, criteria, meta, target } = COLUMN_NAMES;
  const others = [...system, ...id, ...criteria, ...meta, ...target];
  const [text, ...more] = features.filter(
    (feature) => isText(feature) && !others.includes(plainName(feature.name)) && !isFactName(feature.name),
  );
  if (text === undefined || more.length > 0 || isAnswerName(text.name)) return null;
  const { name } = text;
  if (isCategory(rows.map((row) => row[name] ?? null))) return null;
  return { name, reason: `Column ${JSON.stringify(name)} is the only one that holds texts.` };
}

/** Rows below which repetition says nothing, and the longest name of a category. */
const MIN_ROWS = 6;
const MAX_CATEGORY_LENGTH = 60;

/** Whether cells are few short texts that repeat. */
function isCategory(cells: readonly JsonValue[]): boolean {
  const isShort = (cell: JsonValue): boolean =>
    typeof cell === 'string' && cell.length <= MAX_CATEGORY_LENGTH;
  return cells.length >= MIN_ROWS && cells.every(isShort) && new Set(cells).size <= cells.length / 3;
}
