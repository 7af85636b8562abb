import { ExactNumber, type JsonValue } from '@svc/jsonl-v23';
import {
  type LabelledChoice,
  type LabelledChoices,
  labelledChoices,
  plainText,
} from '../labelled-choices.ts';
import { RunError } from '../run-error.ts';
import { type Checker, NO_ANSWER, passedOrNot, referenceAnswer, unscored } from './checker.ts';

/** An output this long is searched for a choice from this many characters before its end ... */
const MAX_SEARCHED_CHARS = 100_000;
/** ... and from fewer where there are many choices to look for. */
const MAX_SEARCH_STEPS = 10_000_000;
/** No task offers more; looking for them would take seconds. */
const MAX_CHOICES = 1_000;

/** What may stand around a choice without being part of it. */
const AROUND = new Set(' \t\r\n*_"\'`()[]{}.:!$');

/**
 * `choice`: the output picks the choice that is the answer; where `answer` is a list, exactly those choices.
 * The answer may be a choice's label or letter, its text, or its index from 0. No options.
 *
 * An output picks a choice when it is its label or its text, when it says so (`the answer is B`, `Answer:
 * (B)`, `\boxed{B}`; the last time counts), when it begins with its label (`B. Paris`), or when it names
 * exactly one of the choices.
 */
export const choice: Checker = ({ output, item }) => {
  const answer = referenceAnswer(item);
  const listed = labelledChoices(item);
  if (answer === undefined) return NO_ANSWER;
  if (listed.choices.length === 0) return unscored('The item has no choices');
  if (listed.choices.length > MAX_CHOICES) {
    throw new RunError(
      'checker_limit',
      `The item has ${listed.choices.length} choices, and at most ${MAX_CHOICES} are looked for`,
    );
  }

  const expected = new Set<number>();
  for (const one of Array.isArray(answer) ? answer : [answer]) {
    const index = choiceMeant(one, listed);
    if (index === undefined) return unscored(`The answer ${shown(one)} is none of the choices`);
    expected.add(index);
  }
  if (expected.size === 0) return NO_ANSWER;

  const picked = choicesPicked(output, listed, expected.size > 1);
  if (picked.size === 0) return passedOrNot(false, 'The output picks none of the choices');
  const labels = [...picked].sort((a, b) => a - b).map((index) => listed.choices[index]?.label);
  const isRight = picked.size === expected.size && [...picked].every((index) => expected.has(index));
  return passedOrNot(isRight, `Picked ${labels.join(', ')}`);
};

/** Which choice a value that stands for one means: its own label, its text, its letter, its index from 0. */
function choiceMeant(value: JsonValue, { choices, ownLabels }: LabelledChoices): number | undefined {
  if (value === null || (typeof value === 'object' && !(value instanceof ExactNumber))) {
    const text = value === null || Array.isArray(value) ? undefined : (value['label'] ?? value['text']);
    return text === undefined || text === null || typeof text === 'object'
      ? undefined
      : choiceMeant(text, { choices, ownLabels });
  }
  const text = plainText(value).trim();
  const byLabel = (): number => choices.findIndex(({ label }) => isAlike(label, text));
  const byText = (): number => {
    const exact = choices.findIndex((one) => one.text.trim() === text);
    return exact >= 0 ? exact : choices.findIndex((one) => isAlike(one.text.trim(), text));
  };
  const byIndex = (): number => (/^\d{1,9}$/.test(text) && Number(text) < choices.length ? Number(text) : -1);
  // Letters that this service gave mean less than what the item itself says.
  const ways = ownLabels ? [byLabel, byText, byIndex] : [byText, byLabel, byIndex];
  // A number is the index, but where the item's own labels are numbers, or its choices are.
  for (const way of ways) {
    const index = way();
    if (index >= 0) return index;
  }
  return undefined;
}

function choicesPicked(output: JsonValue, listed: LabelledChoices, several: boolean): ReadonlySet<number> {
  if (Array.isArray(output))
    return new Set(output.map((one) => choiceMeant(one, listed)).filter((one) => one !== undefined));
  if (typeof output !== 'string') {
    const index = choiceMeant(output, listed);
    return new Set(index === undefined ? [] : [index]);
  }
  const { choices } = listed;
  const text = output
    .slice(-Math.min(MAX_SEARCHED_CHARS, Math.ceil(MAX_SEARCH_STEPS / choices.length)))
    .trim();
  return several ? severalPicked(text, choices) : new Set(onePicked(text, choices));
}

/** At most one index. */
function onePicked(text: string, choices: readonly LabelledChoice[]): number[] {
  const whole = wholeChoice(text, choices);
  if (whole >= 0) return [whole];
  const labels = labelPattern(choices);
  const said =
    last(
      text,
      new RegExp(
        `(?:answer|choice|option)\\b[^.\\n]{0,40}?(?:\\bis\\b|:|=)[\\s:*_"'(\\[{]*(${labels})(?![\\p{L}\\p{N}])`,
        'giu',
      ),
    ) ??
    last(text, new RegExp(`\\\\boxed\\{\\s*(?:\\\\text\\{)?\\s*\\(?(${labels})\\b`, 'giu')) ??
    last(text, new RegExp(`^[\\s*_"'(\\[]*(${labels})[\\])*_"']*(?:[.:)]|\\s*$)`, 'iu'));
  if (said !== undefined) return [labelIndex(said, choices)];
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  const ending = wholeChoice(lastLine.replace(/^.*\b(?:is|:)\s/i, ''), choices);
  if (ending >= 0) return [ending];
  const named = textsNamed(text, choices);
  if (named.length > 0) return named.length === 1 ? named : [];
  const alone = new Set(
    [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(${labels})(?![\\p{L}\\p{N}])`, 'gu'))].map((match) =>
      labelIndex(match[1] ?? '', choices),
    ),
  );
  return alone.size === 1 ? [...alone] : [];
}

function severalPicked(text: string, choices: readonly LabelledChoice[]): ReadonlySet<number> {
  const labels = labelPattern(choices);
  const after =
    last(text, /(?:answers?|choices?|options?)\b[^.\n]{0,40}?(?:\bis\b|\bare\b|:|=)(.*)/gi) ?? text;
  const named = textsNamed(after, choices);
  if (named.length > 0) return new Set(named);
  const alone = after.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(${labels})(?![\\p{L}\\p{N}])`, 'gu'));
  return new Set([...alone].map((match) => labelIndex(match[1] ?? '', choices)));
}

/** The choice that a text is, by label or text, with no more around it than punctuation and emphasis. */
function wholeChoice(text: string, choices: readonly LabelledChoice[]): number {
  const bare = withoutSurroundings(text);
  const byLabel = choices.findIndex(({ label }) => isAlike(label, bare));
  if (byLabel >= 0) return byLabel;
  return choices.findIndex((one) => isAlike(one.text.trim(), text.trim()) || isAlike(one.text.trim(), bare));
}

/** The choices whose text stands in the output, without those that only stand in the text of a longer one. */
function textsNamed(text: string, choices: readonly LabelledChoice[]): number[] {
  let rest = text.toLowerCase();
  const named: number[] = [];
  const longestFirst = [...choices.entries()].sort(([, a], [, b]) => b.text.length - a.text.length);
  for (const [index, { text: choiceText }] of longestFirst) {
    const wanted = choiceText.trim().toLowerCase();
    if (
      wanted.length < 2 ||
      !new RegExp(`(?<![\\p{L}\\p{N}])${escaped(wanted)}(?![\\p{L}\\p{N}])`, 'u').test(rest)
    )
      continue;
    named.push(index);
    rest = rest.replaceAll(wanted, '\u0000');
  }
  return named;
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

function labelPattern(choices: readonly LabelledChoice[]): string {
  return choices
    .map(({ label }) => escaped(label))
    .sort((a, b) => b.length - a.length)
    .join('|');
}

function labelIndex(label: string, choices: readonly LabelledChoice[]): number {
  const exact = choices.findIndex((one) => one.label === label);
  return exact >= 0 ? exact : choices.findIndex((one) => isAlike(one.label, label));
}

function last(text: string, pattern: RegExp): string | undefined {
  if (!pattern.global) return pattern.exec(text)?.[1];
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

function isAlike(a: string, b: string): boolean {
  return a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase();
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function shown(value: JsonValue): string {
  const text = plainText(value);
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
