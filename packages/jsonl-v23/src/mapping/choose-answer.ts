import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { ExactNumber, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { choiceContent, choiceLabel } from './choices.ts';
import type { AnswerKind } from './mapping.ts';

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
