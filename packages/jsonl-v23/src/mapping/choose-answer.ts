import { ExactNumber, getMember, isJsonObject, type JsonValue } from '../json/json-value.ts';
import type { AnswerKind } from './mapping.ts';

/**
 * The choice that an answer names, by its index from 0 or by its letter; the text of a choice that is an object with
 * `text`. A letter is first compared with the labels of choices that have them.
 *
 * @returns undefined where the answer names none
 */
export function chooseAnswer(
  kind: Exclude<AnswerKind, 'text'>,
  answer: JsonValue,
  choices: readonly JsonValue[],
): JsonValue | undefined {
  const index = kind === 'index' ? toIndex(answer) : indexOfLetter(answer, choices);
  const choice = index === undefined ? undefined : choices[index];
  if (!isJsonObject(choice)) return choice ?? undefined;
  return getMember(choice, 'text') ?? choice;
}

function toIndex(answer: JsonValue): number | undefined {
  const text = answer instanceof ExactNumber ? answer.text : answer;
  if (typeof text === 'number') return Number.isSafeInteger(text) ? text : undefined;
  return typeof text === 'string' && /^(?:0|[1-9][0-9]{0,8})$/.test(text.trim()) ? Number(text) : undefined;
}

function indexOfLetter(answer: JsonValue, choices: readonly JsonValue[]): number | undefined {
  if (typeof answer !== 'string') return undefined;
  const letter = answer.trim().toUpperCase();
  const labelled = choices.findIndex((choice) => {
    const label = isJsonObject(choice) ? getMember(choice, 'label') : undefined;
    return typeof label === 'string' && label.trim().toUpperCase() === letter;
  });
  if (labelled !== -1) return labelled;
  return /^[A-Z]$/.test(letter) ? letter.charCodeAt(0) - 'A'.charCodeAt(0) : undefined;
}
