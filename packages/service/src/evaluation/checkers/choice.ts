import type { Item } from '@svc/jsonl-v23';
import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { type LabelledChoices, labelledChoices } from '@svc/jsonl-v23/mapping';
import { checkerLimit } from '../check-limits.ts';
import { excerpt, plainText } from '../item/canonical-text.ts';
import { firstOf, limitChoices } from '../reading/choice-names.ts';
import { toNfc } from '../reading/comparable-text.ts';
import { quoted } from '../reading/quoted.ts';
import { readChoice } from '../reading/read-choice.ts';
import { checker, NO_ANSWER, passedOrNot, referenceAnswer, UNREADABLE, Unscorable } from './checker.ts';

type AnswerResolver = (value: JsonValue) => number | undefined;

/**
 * Makes the function that finds the choice that an answer means: by its text, its label (also in another case) or its
 * letter, else by its index from 0. The item's own labels come before texts, and letters that this service chose after
 * them. The first of equal choices counts. An object counts by its `label`, else by its `text`.
 */
function createAnswerResolver({ choices, ownLabels }: LabelledChoices): AnswerResolver {
  const labels = firstOf(choices.map(({ label }) => alike(label)));
  const exactTexts = firstOf(choices.map(({ text }) => text.trim()));
  const texts = firstOf(choices.map(({ text }) => alike(text.trim())));
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

const alike = (text: string): string => toNfc(text).toLowerCase();

/** Elements of an output or an answer that is a list. */
const MAX_ELEMENTS = 10_000;

function choicesOfValue(output: JsonValue, resolve: AnswerResolver): ReadonlySet<number> {
  const values = Array.isArray(output) ? output : [output];
  return new Set(values.map(resolve).filter((one) => one !== undefined));
}

/** The choices that are the answer of an item. */
function choicesMeant(item: Item) {
  const answer = referenceAnswer(item);
  if (answer === undefined) return NO_ANSWER;
  const listed = labelledChoices(item);
  if (listed.choices.length === 0) return new Unscorable('no_choices', 'The item has no choices');
  limitChoices(listed);
  limitElements('answer', answer);
  const resolve = createAnswerResolver(listed);
  const expected = new Set<number>();
  for (const one of Array.isArray(answer) ? answer : [answer]) {
    const meant = resolve(one);
    if (meant === undefined) {
      const explanation = `The answer ${excerpt(plainText(one))} is none of the choices`;
      return new Unscorable('unknown_answer', explanation);
    }
    expected.add(meant);
  }
  return expected.size === 0 ? NO_ANSWER : { listed, resolve, expected };
}

function limitElements(what: string, value: JsonValue): void {
  if (!Array.isArray(value) || value.length <= MAX_ELEMENTS) return;
  throw checkerLimit(`The ${what} must have at most ${MAX_ELEMENTS} elements, got ${value.length}.`);
}

/** {@link readChoice} says what an output picks. */
export const CHOICE = checker({
  name: 'choice',
  passes:
    'the output picks the choice that is the answer (its label, text, letter, or index from 0); for a list, exactly those',
  example: '“The answer is B” is right for B',
  options: {},
  isCheap: false,
  expected: choicesMeant,
  compare(output, { listed, resolve, expected }) {
    limitElements('output', output);
    const { picked, words } =
      typeof output === 'string'
        ? readChoice(output, listed, expected.size > 1)
        : { picked: choicesOfValue(output, resolve), words: quoted(plainText(output)) };
    if (picked.size === 0) return passedOrNot(false, UNREADABLE.choice);
    const labels = [...picked].sort((a, b) => a - b).map((one) => listed.choices[one]?.label);
    const isRight = picked.size === expected.size && [...picked].every((one) => expected.has(one));
    return passedOrNot(isRight, `Picked ${labels.join(', ')}: ${excerpt(words ?? '', 200)}`);
  },
});
