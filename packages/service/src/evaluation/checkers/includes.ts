import { checkerLimit, MAX_SEARCH_STEPS } from '../check-limits.ts';
import { excerpt } from '../item/canonical-text.ts';
import { isWholeWord } from '../reading/choice-names.ts';
import { comparableText, occurrences } from '../reading/comparable-text.ts';
import { checker, flag, IGNORE_CASE, NO_ANSWER, passedOrNot, referenceAnswer } from './checker.ts';

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
