import type { LabelledChoice, LabelledChoices } from '../item/labelled-choices.ts';
import { toNfc } from './to-nfc.ts';

/** What may stand around a choice without being part of it. */
const AROUND = new Set(' \t\r\n*_"\'`()[]{}.:!$');

/** A label of this form is looked for inside an output; any other only where it is the whole output. */
const SEARCHABLE = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M} +#/_.-]{0,62}[\p{L}\p{N}])?$/u;

/** The choices of an item, looked up in time that does not grow with their number. */
export interface ChoiceIndex extends LabelledChoices {
  /** position of the first choice with this label, whatever its case */
  byLabel(text: string): number | undefined;
  /** position of the first choice with exactly this text, else of the first with it in another case */
  byText(text: string): number | undefined;
  /** position of the choice that a text is, by label or text, with no more around it than punctuation */
  byWhole(text: string): number | undefined;
  /** position of the choice whose label `labelPattern` found */
  bySearched(label: string): number | undefined;
  /**
   * Alternatives of a regular expression: the labels that can be looked for in a text, escaped, without punctuation
   * around them, at most 64 characters each. They begin and end with a letter or digit. Matches nothing without any.
   */
  readonly labelPattern: string;
}

/** Indexes the choices of an item. Where two are alike, the first counts. */
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

/** The labels to look for: without punctuation around them where that leaves them different, as in `(A)`, `(B)`. */
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

/**
 * By hand, since a pattern for the end of a text takes time that grows with the square of a long run of
 * blanks.
 */
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
