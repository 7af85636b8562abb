import type { Item } from '@svc/jsonl-v23';
import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { type LabelledChoice, labelledChoices } from '../item/labelled-choices.ts';
import { excerpt, plainText } from '../item/plain-text.ts';
import { checkerLimit } from './check-limits.ts';
import { type Checker, NO_ANSWER, passedOrNot, referenceAnswer, UNREADABLE, unscored } from './checker.ts';
import { type ChoiceIndex, createChoiceIndex } from './choice-index.ts';
import type { CheckerDeclaration, UnscorableReason } from './declaration.ts';
import { createTextSearch } from './find-text.ts';

/** Characters of an output, from its end, that are searched for a choice ... */
const MAX_SEARCHED_CHARS = 100_000;
/** ... and fewer if there are many choices. */
const MAX_SEARCH_STEPS = 10_000_000;
/** No task has more; searching for them would take seconds. */
const MAX_CHOICES = 1_000;
/** Elements of an output or an answer that is a list. */
const MAX_ELEMENTS = 10_000;

/**
 * `choice`: the output picks the choice that is the answer; if `answer` is a list, exactly those choices. The answer may
 * be a choice's label or letter, its text, or its index from 0. No options.
 *
 * An output picks a choice if it is its label or its text, if it says so (`the answer is B`, `Answer: (B)`, `\boxed{B}`;
 * the last time counts), if it begins with its label (`B. Paris`), or if it contains exactly one of the choices.
 */
const choice: Checker = ({ output, item }) => {
  const meant = choicesMeant(item);
  if ('reason' in meant) return unscored(meant.explanation);
  const { index, expected } = meant;
  limitElements('output', output);
  const picked = choicesPicked(output, index, expected.size > 1);
  if (picked.size === 0) return passedOrNot(false, UNREADABLE.choice);
  const labels = [...picked].sort((a, b) => a - b).map((one) => index.choices[one]?.label);
  const isRight = picked.size === expected.size && [...picked].every((one) => expected.has(one));
  return passedOrNot(isRight, `Picked ${labels.join(', ')}`);
};

/**
 * The choices that are the answer of an item, or why there are none.
 *
 * @throws RunError `checker_limit`
 */
function choicesMeant(
  item: Item,
):
  | { readonly index: ChoiceIndex; readonly expected: ReadonlySet<number> }
  | { readonly reason: UnscorableReason; readonly explanation: string } {
  const answer = referenceAnswer(item);
  if (answer === undefined) return WITHOUT_ANSWER;
  const listed = labelledChoices(item);
  if (listed.choices.length === 0) return { reason: 'no_choices', explanation: 'The item has no choices' };
  if (listed.choices.length > MAX_CHOICES) {
    throw checkerLimit(`The item must have at most ${MAX_CHOICES} choices, got ${listed.choices.length}.`);
  }
  limitElements('answer', answer);
  const index = createChoiceIndex(listed);
  const expected = new Set<number>();
  for (const one of Array.isArray(answer) ? answer : [answer]) {
    const meant = choiceMeant(one, index);
    if (meant === undefined) {
      const explanation = `The answer ${excerpt(plainText(one))} is none of the choices`;
      return { reason: 'unknown_answer', explanation };
    }
    expected.add(meant);
  }
  return expected.size === 0 ? WITHOUT_ANSWER : { index, expected };
}

const WITHOUT_ANSWER = { reason: 'no_answer', explanation: NO_ANSWER.explanation } as const;

function limitElements(what: string, value: JsonValue): void {
  if (!Array.isArray(value) || value.length <= MAX_ELEMENTS) return;
  throw checkerLimit(`The ${what} must have at most ${MAX_ELEMENTS} elements, got ${value.length}.`);
}

/** The choice that a value means: by its own label, its text, its letter, or its index from 0. */
function choiceMeant(value: JsonValue, index: ChoiceIndex): number | undefined {
  if (value === null || (typeof value === 'object' && !(value instanceof ExactNumber))) {
    const text = value === null || Array.isArray(value) ? undefined : (value['label'] ?? value['text']);
    return text === undefined || text === null || typeof text === 'object'
      ? undefined
      : choiceMeant(text, index);
  }
  const text = plainText(value).trim();
  const byIndex = /^\d{1,9}$/.test(text) && Number(text) < index.choices.length ? Number(text) : undefined;
  // The item's own labels and texts come before letters that this service chose. A number is the index unless the
  // item's own labels or choices are numbers.
  return index.ownLabels
    ? (index.byLabel(text) ?? index.byText(text) ?? byIndex)
    : (index.byText(text) ?? index.byLabel(text) ?? byIndex);
}

function choicesPicked(output: JsonValue, index: ChoiceIndex, several: boolean): ReadonlySet<number> {
  if (Array.isArray(output))
    return new Set(output.map((one) => choiceMeant(one, index)).filter((one) => one !== undefined));
  if (typeof output !== 'string') {
    const meant = choiceMeant(output, index);
    return new Set(meant === undefined ? [] : [meant]);
  }
  const text = output
    .slice(-Math.min(MAX_SEARCHED_CHARS, Math.ceil(MAX_SEARCH_STEPS / index.choices.length)))
    .trim();
  return several ? severalPicked(text, index) : new Set(onePicked(text, index));
}

/** At most one index. */
function onePicked(text: string, index: ChoiceIndex): number[] {
  const whole = index.byWhole(text);
  if (whole !== undefined) return [whole];
  // A label begins with a letter or digit and the text before it does not, so there is no backtracking.
  const label = `(?=[\\p{L}\\p{N}])(${index.labelPattern})(?![\\p{L}\\p{N}])`;
  const said =
    last(
      text,
      new RegExp(
        `(?:answer|choice|option)\\b[^.\\n]{0,40}?(?:\\bis\\b|:|=)[\\s:*_"'(\\[{]{0,32}${label}`,
        'giu',
      ),
    ) ??
    last(text, new RegExp(`\\\\boxed\\{\\s{0,32}(?:\\\\text\\{\\s{0,32})?\\(?${label}`, 'giu')) ??
    last(text, new RegExp(`^[\\s*_"'(\\[]{0,32}${label}[\\])*_"']{0,32}(?:[.:)]|$)`, 'iu'));
  const meant = said === undefined ? undefined : index.bySearched(said);
  if (meant !== undefined) return [meant];
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  const ending = index.byWhole(lastLine.replace(/^.*\b(?:is|:)\s/i, ''));
  if (ending !== undefined) return [ending];
  const named = textsNamed(text, index.choices);
  if (named.length > 0) return named.length === 1 ? named : [];
  const alone = labelsAlone(text, index);
  return alone.size === 1 ? [...alone] : [];
}

function severalPicked(text: string, index: ChoiceIndex): ReadonlySet<number> {
  const after =
    last(text, /(?:answers?|choices?|options?)\b[^.\n]{0,40}?(?:\bis\b|\bare\b|:|=)(.*)/gi) ?? text;
  const named = textsNamed(after, index.choices);
  return named.length > 0 ? new Set(named) : labelsAlone(after, index);
}

/** The choices whose labels are words of the text. */
function labelsAlone(text: string, index: ChoiceIndex): ReadonlySet<number> {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${index.labelPattern})(?![\\p{L}\\p{N}])`, 'gu');
  const found = new Set<number>();
  for (const [, label = ''] of text.matchAll(pattern)) {
    const meant = index.bySearched(label);
    if (meant !== undefined) found.add(meant);
  }
  return found;
}

/** The choices whose text the output contains, without those that are only part of a longer one. */
function textsNamed(text: string, choices: readonly LabelledChoice[]): number[] {
  let rest = text.toLowerCase();
  const named: number[] = [];
  const longestFirst = [...choices.entries()].sort(([, a], [, b]) => b.text.length - a.text.length);
  for (const [position, { text: choiceText }] of longestFirst) {
    const wanted = choiceText.trim().toLowerCase();
    if (wanted.length < 2) continue;
    const starts = occurrences(rest, wanted);
    if (!starts.some((start) => isWord(rest, start, start + wanted.length))) continue;
    named.push(position);
    rest = without(rest, wanted.length, starts);
  }
  return named;
}

/** Indexes at which `wanted` begins in the text, without overlaps. */
function occurrences(text: string, wanted: string): number[] {
  const search = createTextSearch(wanted);
  const starts: number[] = [];
  for (let start = search(text, 0); start >= 0; start = search(text, start + wanted.length))
    starts.push(start);
  return starts;
}

/** The text with `length` characters from each start replaced by one character that no choice contains. */
function without(text: string, length: number, starts: readonly number[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const start of starts) {
    parts.push(text.slice(end, start));
    end = start + length;
  }
  return [...parts, text.slice(end)].join('\u0000');
}

const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const BEGINS_WITH_WORD = /^[\p{L}\p{N}]/u;

/** Whether there is no letter or digit before `start` or at `end`. Two code units hold any character. */
function isWord(text: string, start: number, end: number): boolean {
  return (
    !ENDS_IN_WORD.test(text.slice(Math.max(0, start - 2), start)) &&
    !BEGINS_WITH_WORD.test(text.slice(end, end + 2))
  );
}

function last(text: string, pattern: RegExp): string | undefined {
  if (!pattern.global) return pattern.exec(text)?.[1];
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

export const CHOICE: CheckerDeclaration = {
  name: 'choice',
  passes:
    'the output picks the choice that is the answer (its label, text, letter, or index from 0); for a list, exactly those',
  example: '“The answer is B” is right for B',
  options: {},
  check: choice,
  isCheap: false,
  unscorableReason: (item) => {
    const meant = choicesMeant(item);
    return 'reason' in meant ? meant.reason : null;
  },
};
