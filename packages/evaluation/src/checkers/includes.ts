import type { Item } from '@svc/jsonl-v23';
import { checkerLimit, MAX_SEARCH_STEPS } from '../check-limits.ts';
import { excerpt } from '../item/canonical-text.ts';
import { isWholeWord } from '../reading/choice-names.ts';
import { comparableText, occurrences } from '../reading/comparable-text.ts';
import {
  booleanOption,
  type Checker,
  type CheckerDeclaration,
  IGNORE_CASE,
  NO_ANSWER,
  option,
  passedOrNot,
  referenceAnswer,
} from './checker.ts';

/**
 * `includes`: the output contains the answer; if `answer` is a list, one of them, or every one with `all`.
 * Options: `ignore_case` (false), `all` (false), `words` (false: an answer may stand inside of a word). Blanks around the
 * answer do not count.
 */
const includes: Checker = ({ output, item, options }) => {
  const ignoreCase = booleanOption(options, 'ignore_case', false);
  const all = booleanOption(options, 'all', false);
  const isWords = booleanOption(options, 'words', false);
  const wanted = wantedTexts(item, ignoreCase);
  if (wanted.length === 0) return NO_ANSWER;
  const given = comparableText(output, { ignoreCase, trim: false });
  if (wanted.length > 1 && wanted.length * given.length > MAX_SEARCH_STEPS) {
    throw checkerLimit(
      `The item has too many answers (${wanted.length}) for an output of ${given.length} characters.`,
    );
  }
  const isIn = (text: string): boolean => contains(given, text, isWords);
  if (all) {
    const missing = wanted.find((text) => !isIn(text));
    return passedOrNot(
      missing === undefined,
      missing === undefined ? 'Found all' : `Missing ${excerpt(missing)}`,
    );
  }
  const found = wanted.find(isIn);
  return passedOrNot(found !== undefined, found === undefined ? 'Found none' : `Found ${excerpt(found)}`);
};

function contains(text: string, wanted: string, isWords: boolean): boolean {
  for (const at of occurrences(text, wanted)) {
    if (!isWords || isWholeWord(text, at, at + wanted.length)) return true;
  }
  return false;
}

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
    words: option('boolean', 'whether the answer must be whole words of the output', { default: false }),
    all: option('boolean', 'whether it must contain every answer of the list', { default: false }),
  },
  check: includes,
  isCheap: true,
  unscorableReason: (item) => (wantedTexts(item, false).length === 0 ? 'no_answer' : null),
};
