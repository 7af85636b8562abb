import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import type { LabelledChoice, LabelledChoices } from '../item/labelled-choices.ts';
import { plainText } from '../item/plain-text.ts';
import { toNfc } from './comparable-text.ts';

/** Finds the choice that a value means; undefined if it means none. */
export type AnswerResolver = (value: JsonValue) => number | undefined;

/**
 * Makes what finds the choice that an answer means: by its text, its label (also in another case) or its letter, else by
 * its index from 0. The item's own labels come before texts, and letters that this service chose after them. The first of
 * equal choices counts. An object counts by its `label`, else by its `text`.
 */
export function createAnswerResolver({ choices, ownLabels }: LabelledChoices): AnswerResolver {
  const labels = firstOf(choices, ({ label }) => alike(label));
  const exactTexts = firstOf(choices, ({ text }) => text.trim());
  const texts = firstOf(choices, ({ text }) => alike(text.trim()));
  const byLabel = (text: string): number | undefined => labels.get(alike(text));
  const byText = (text: string): number | undefined => exactTexts.get(text) ?? texts.get(alike(text));
  const resolve: AnswerResolver = (value) => {
    if (value === null || (typeof value === 'object' && !(value instanceof ExactNumber))) {
      const named = value === null || Array.isArray(value) ? undefined : (value['label'] ?? value['text']);
      return named == null || typeof named === 'object' ? undefined : resolve(named);
    }
    const text = plainText(value).trim();
    const byIndex = /^\d{1,9}$/.test(text) && Number(text) < choices.length ? Number(text) : undefined;
    return (ownLabels ? (byLabel(text) ?? byText(text)) : (byText(text) ?? byLabel(text))) ?? byIndex;
  };
  return resolve;
}

/** Index of the choice that an answer means, see {@link createAnswerResolver}. */
export function resolveAnswer(value: JsonValue, choices: LabelledChoices): number | undefined {
  return createAnswerResolver(choices)(value);
}

function firstOf(
  choices: readonly LabelledChoice[],
  keyOf: (choice: LabelledChoice) => string,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [position, choice] of choices.entries()) {
    const key = keyOf(choice);
    if (!found.has(key)) found.set(key, position);
  }
  return found;
}

const alike = (text: string): string => toNfc(text).toLowerCase();
