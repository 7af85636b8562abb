import type { LabelledChoice, LabelledChoices } from '../item/labelled-choices.ts';
import { toNfc } from './comparable-text.ts';

/** Characters around a choice that are not part of it. */
const AROUND = new Set(' \t\r\n*_"\'`()[]{}.:!$');

/** A label of this form is searched for in an output; any other must be the whole output. */
const SEARCHABLE = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M} +#/_.-]{0,62}[\p{L}\p{N}])?$/u;

/** The choices of an item, with lookups in constant time. */
export interface ChoiceIndex extends LabelledChoices {
  /** Index of the first choice with this label in any case. */
  byLabel(text: string): number | undefined;
  /** Index of the first choice with this text, else of the first with it in another case. */
  byText(text: string): number | undefined;
  /** Index of the choice that is the whole text, by label or text, except for punctuation around it. */
  byWhole(text: string): number | undefined;
  /** Index of the choice whose label `labelPattern` matched. */
  bySearched(label: string): number | undefined;
  /**
   * Alternatives of a regular expression: the labels to search for in a text, escaped, without punctuation around them,
   * at most 64 characters each. They begin and end with a letter or digit. Without labels it matches nothing.
   */
  readonly labelPattern: string;
}

/** Indexes the choices of an item. The first of two equal ones counts. */
export function createChoiceIndex(listed: LabelledChoices): ChoiceIndex {
  const { choices } = listed;
  const labels = firstOf(choices, ({ label }) => alike(label));
  const exactTexts = firstOf(choices, ({ text }) => text.trim());
  const texts = firstOf(choices, ({ text }) => alike(text.trim()));
  const searched = searchedLabels(choices);
  const searchedAlike = new Map<string, number>();
  for (const [label, position] of searched) {
    if (!searchedAlike.has(alike(label))) searchedAlike.set(alike(label), position);
  }
  const byLabel = (text: string): number | undefined => labels.get(alike(text));
  return {
    ...listed,
    byLabel,
    byText: (text) => exactTexts.get(text) ?? texts.get(alike(text)),
    byWhole: (text) => {
      const whole = text.trim();
      const bare = withoutSurroundings(text);
      const ways = [texts.get(alike(whole)), texts.get(alike(bare))].filter((one) => one !== undefined);
      return byLabel(bare) ?? byLabel(whole) ?? (ways.length === 0 ? undefined : Math.min(...ways));
    },
    bySearched: (label) => searched.get(label) ?? searchedAlike.get(alike(label)),
    labelPattern:
      searched.size === 0
        ? '(?!)'
        : [...searched.keys()]
            .sort((a, b) => b.length - a.length)
            .map(escaped)
            .join('|'),
  };
}

/** The labels to search for, without punctuation around them if they stay different, as in `(A)`, `(B)`. */
function searchedLabels(choices: readonly LabelledChoice[]): ReadonlyMap<string, number> {
  const bare = choices.map(({ label }) => withoutSurroundings(label));
  const areDifferent = new Set(bare).size === bare.length;
  const found = new Map<string, number>();
  for (const [position, { label }] of choices.entries()) {
    const wanted = (areDifferent ? bare[position] : label) ?? label;
    if (wanted.length <= 64 && SEARCHABLE.test(wanted) && !found.has(wanted)) found.set(wanted, position);
  }
  return found;
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

/** A loop, because a pattern for the end of a text takes quadratic time for a long run of blanks. */
function withoutSurroundings(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && AROUND.has(text[start] ?? '')) start += 1;
  while (end > start && AROUND.has(text[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}

function alike(text: string): string {
  return toNfc(text).toLowerCase();
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
