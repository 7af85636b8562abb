import type { Item } from '@svc/jsonl-v23';
import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { checkerLimit } from '../check-limits.ts';
import { excerpt, plainText } from '../item/canonical-text.ts';
import { type LabelledChoice, type LabelledChoices, labelledChoices } from '../item/labelled-choices.ts';
import { limitChoices } from '../reading/choice-names.ts';
import { toNfc } from '../reading/comparable-text.ts';
import { quoted } from '../reading/quoted.ts';
import { readChoice } from '../reading/read-choice.ts';
import {
  type Checker,
  type CheckerDeclaration,
  NO_ANSWER,
  passedOrNot,
  referenceAnswer,
  UNREADABLE,
  type UnscorableReason,
  unscored,
} from './checker.ts';

/** Finds the choice that a value means; undefined if it means none. */
type AnswerResolver = (value: JsonValue) => number | undefined;

/**
 * Makes the function that finds the choice that an answer means: by its text, its label (also in another case) or its
 * letter, else by its index from 0. The item's own labels come before texts, and letters that this service chose after
 * them. The first of equal choices counts. An object counts by its `label`, else by its `text`.
 */
function createAnswerResolver({ choices, ownLabels }: LabelledChoices): AnswerResolver {
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

/** Elements of an output or an answer that is a list. */
const MAX_ELEMENTS = 10_000;

/**
 * `choice`: the output picks the choice that is the answer; if `answer` is a list, exactly those choices. The answer may
 * be a choice's label or letter, its text, or its index from 0. No options. {@link readChoice} says what an output picks.
 */
const choice: Checker = ({ output, item }) => {
  const meant = choicesMeant(item);
  if ('reason' in meant) return unscored(meant.explanation);
  const { listed, resolve, expected } = meant;
  limitElements('output', output);
  const { picked, words } =
    typeof output === 'string'
      ? readChoice(output, listed, expected.size > 1)
      : { picked: choicesOfValue(output, resolve), words: quoted(plainText(output)) };
  if (picked.size === 0) return passedOrNot(false, UNREADABLE.choice);
  const labels = [...picked].sort((a, b) => a - b).map((one) => listed.choices[one]?.label);
  const isRight = picked.size === expected.size && [...picked].every((one) => expected.has(one));
  return passedOrNot(isRight, `Picked ${labels.join(', ')}: ${excerpt(words ?? '', 200)}`);
};

function choicesOfValue(output: JsonValue, resolve: AnswerResolver): ReadonlySet<number> {
  const values = Array.isArray(output) ? output : [output];
  return new Set(values.map(resolve).filter((one) => one !== undefined));
}

/** The choices that are the answer of an item, or why there are none. @throws RunError `checker_limit` */
function choicesMeant(item: Item):
  | {
      readonly listed: LabelledChoices;
      readonly resolve: AnswerResolver;
      readonly expected: ReadonlySet<number>;
    }
  | { readonly reason: UnscorableReason; readonly explanation: string } {
  const answer = referenceAnswer(item);
  if (answer === undefined) return WITHOUT_ANSWER;
  const listed = labelledChoices(item);
  if (listed.choices.length === 0) return { reason: 'no_choices', explanation: 'The item has no choices' };
  limitChoices(listed);
  limitElements('answer', answer);
  const resolve = createAnswerResolver(listed);
  const expected = new Set<number>();
  for (const one of Array.isArray(answer) ? answer : [answer]) {
    const meant = resolve(one);
    if (meant === undefined) {
      const explanation = `The answer ${excerpt(plainText(one))} is none of the choices`;
      return { reason: 'unknown_answer', explanation };
    }
    expected.add(meant);
  }
  return expected.size === 0 ? WITHOUT_ANSWER : { listed, resolve, expected };
}

const WITHOUT_ANSWER = { reason: 'no_answer', explanation: NO_ANSWER.explanation } as const;

function limitElements(what: string, value: JsonValue): void {
  if (!Array.isArray(value) || value.length <= MAX_ELEMENTS) return;
  throw checkerLimit(`The ${what} must have at most ${MAX_ELEMENTS} elements, got ${value.length}.`);
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
