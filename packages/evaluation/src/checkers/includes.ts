import { checkerLimit, MAX_SEARCH_STEPS } from './check-limits.ts';
import { booleanOption, type Checker, NO_ANSWER, passedOrNot, referenceAnswer } from './checker.ts';
import { comparableText } from './comparable-text.ts';
import { createTextSearch } from './find-text.ts';

/**
 * `includes`: the output contains the answer; if `answer` is a list, one of them, or every one with `all`.
 * Options: `ignore_case` (false), `all` (false). Blanks around the answer do not count.
 */
export const includes: Checker = ({ output, item, options }) => {
  const ignoreCase = booleanOption(options, 'ignore_case', false);
  const all = booleanOption(options, 'all', false);
  const answer = referenceAnswer(item);
  const listed = Array.isArray(answer) ? answer : answer === undefined ? [] : [answer];
  const wanted = listed
    .map((one) => comparableText(one, { ignoreCase, trim: true }))
    .filter((text) => text !== '');
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
