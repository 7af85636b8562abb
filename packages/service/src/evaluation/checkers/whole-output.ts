import { canonicalJson, type JsonValue, tryParseJson } from '@svc/jsonl-v23/json';
import { checkerLimit, MAX_SEARCH_STEPS } from '../check-limits.ts';
import { excerpt } from '../item/canonical-text.ts';
import { isWholeWord } from '../reading/choice-names.ts';
import { comparableText, occurrences } from '../reading/comparable-text.ts';
import { compared } from '../reading/quoted.ts';
import { unfenced } from '../reading/scored-output.ts';
import {
  checker,
  flag,
  IGNORE_CASE,
  NO_ANSWER,
  passedOrNot,
  referenceAnswer,
  UNREADABLE,
} from './checker.ts';

export const EXACT_MATCH = checker({
  name: 'exact_match',
  passes: 'the output equals the answer, or one of a list of answers',
  example: '“Paris” is right, “It is Paris” is not',
  options: {
    ignore_case: IGNORE_CASE,
    trim: flag('whether blanks around both are ignored', true),
  },
  isCheap: true,
  expected(item) {
    const answer = referenceAnswer(item);
    return answer === undefined || (Array.isArray(answer) && answer.length === 0) ? NO_ANSWER : answer;
  },
  compare(output, answer, { ignore_case: ignoreCase, trim }) {
    const how = { ignoreCase, trim };
    const given = comparableText(output, how);
    const isSame = canonicalJson(output) === canonicalJson(answer);
    const answers = Array.isArray(answer) ? answer : [answer];
    const isRight = isSame || answers.some((expected) => comparableText(expected, how) === given);
    return passedOrNot(isRight, compared(given));
  },
});

function contains(text: string, wanted: string, isWords: boolean): boolean {
  for (const at of occurrences(text, wanted)) {
    if (!isWords || isWholeWord(text, at, at + wanted.length)) return true;
  }
  return false;
}

export const INCLUDES = checker({
  name: 'includes',
  passes: 'the output contains the answer, or one of a list of answers',
  example: '“It is Paris.” is right for “Paris”',
  options: {
    ignore_case: IGNORE_CASE,
    words: flag('whether the answer must be whole words of the output', false),
    all: flag('whether it must contain every answer of the list', false),
  },
  isCheap: true,
  expected(item, { ignore_case: ignoreCase }) {
    const answer = referenceAnswer(item) ?? [];
    const wanted = (Array.isArray(answer) ? answer : [answer])
      .map((one) => comparableText(one, { ignoreCase, trim: true }))
      .filter((text) => text !== '');
    return wanted.length === 0 ? NO_ANSWER : wanted;
  },
  compare(output, wanted, { ignore_case: ignoreCase, all, words }) {
    const given = comparableText(output, { ignoreCase, trim: false });
    if (wanted.length > 1 && wanted.length * given.length > MAX_SEARCH_STEPS) {
      throw checkerLimit(
        `The item has too many answers (${wanted.length}) for an output of ${given.length} characters.`,
      );
    }
    const isIn = (text: string): boolean => contains(given, text, words);
    if (all) {
      const missing = wanted.find((text) => !isIn(text));
      return passedOrNot(
        missing === undefined,
        missing === undefined ? 'Found all' : `Missing ${excerpt(missing)}`,
      );
    }
    const found = wanted.find(isIn);
    return passedOrNot(found !== undefined, found === undefined ? 'Found none' : `Found ${excerpt(found)}`);
  },
});

/** A text is parsed as JSON, without a fenced block of Markdown around it. */
const asJson = (value: JsonValue): JsonValue | undefined =>
  typeof value === 'string' ? tryParseJson(unfenced(value).trim()) : value;

/** Values are compared by their canonical text: neither the order of keys nor the spelling of numbers counts. */
export const JSON_EQUAL = checker({
  name: 'json_equal',
  passes: 'the output is the same JSON value as the answer',
  example: '{"b": 2, "a": 1.0} is right for {"a": 1, "b": 2}',
  options: {},
  isCheap: true,
  expected: (item) => referenceAnswer(item) ?? NO_ANSWER,
  compare(output, answer) {
    const given = asJson(output);
    const isSame = canonicalJson(output) === canonicalJson(answer);
    if (given === undefined && !isSame) return passedOrNot(false, UNREADABLE.json);
    const found = canonicalJson(given ?? output);
    const expected = [answer, asJson(answer)].filter((one) => one !== undefined);
    return passedOrNot(isSame || expected.some((one) => canonicalJson(one) === found), compared(found));
  },
});
