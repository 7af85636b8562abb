import type { Item } from '@svc/jsonl-v23';
import { checkerLimit, MAX_SEARCH_STEPS } from './check-limits.ts';
import { booleanOption, type Checker, NO_ANSWER, passedOrNot, referenceAnswer } from './checker.ts';
import { comparableText } from './comparable-text.ts';
import { type CheckerDeclaration, IGNORE_CASE, option } from './declaration.ts';
import { createTextSearch } from './find-text.ts';

/**
 * `includes`: the output contains the answer; if `answer` is a list, one of them, or every one with `all`.
 * Options: `ignore_case` (false), `all` (false). Blanks around the answer do not count.
 */
const includes: Checker = ({ output, item, options }) => {
  const ignoreCase = booleanOption(options, 'ignore_case', false);
  const all = booleanOption(options, 'all', false);
  const wanted = wantedTexts(item, ignoreCase);
  if (wanted.length === 0) return NO_ANSWER;
  const given = comparableText(output, { ignoreCase, trim: false });
  if (wanted.length > 1 && wanted.length * given.length > MAX_SEARCH_STEPS) {
    throw checkerLimit(
      `The item has too many answers (${wanted.length}) for an output of ${given.length} characters.`,
    );
  }
  const isIn = (text: string): boolean => createTextSearch(text)(given, 0) >= 0;
  return passedOrNot(all ? wanted.every(isIn) : wanted.some(isIn));
};

/** The texts that an output may contain, without empty ones. */
function wantedTexts(item: Item, ignoreCase: boolean): string[] {
  const answer = referenceAnswer(item);
  const listed = Array.isArray(answer) ? answer : answer === undefined ? [] : [answer];
  return listed.map((one) => comparableText(one, { ignoreCase, trim: true })).filter((text) => text !== '');
}

export const INCLUDES: CheckerDeclaration = {
  name: 'includes',
  passes: 'the output contains the answer, or one of a list of answers',
  example: '“It is Paris.” is right for “Paris”',
  options: {
    ignore_case: IGNORE_CASE,
    all: option('boolean', 'whether it must contain every answer of the list', { default: false }),
  },
  check: includes,
  isCheap: true,
  unscorableReason: (item) => (wantedTexts(item, false).length === 0 ? 'no_answer' : null),
};
