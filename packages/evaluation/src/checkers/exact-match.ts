import { canonicalJson } from '@svc/jsonl-v23/json';
import { comparableText } from '../reading/comparable-text.ts';
import { compared } from '../reading/quoted.ts';
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
 * `exact_match`: the output is the answer, or one of the answers if `answer` is a list.
 * Options: `ignore_case` (false), `trim` (true: blanks around the text do not count).
 */
const exactMatch: Checker = ({ output, item, options }) => {
  const how = {
    ignoreCase: booleanOption(options, 'ignore_case', false),
    trim: booleanOption(options, 'trim', true),
  };
  const answer = referenceAnswer(item);
  if (answer === undefined) return NO_ANSWER;
  const answers = Array.isArray(answer) ? answer : [answer];
  if (answers.length === 0) return NO_ANSWER;
  const given = comparableText(output, how);
  const isSame = canonicalJson(output) === canonicalJson(answer);
  const isRight = isSame || answers.some((expected) => comparableText(expected, how) === given);
  return passedOrNot(isRight, compared(given));
};

export const EXACT_MATCH: CheckerDeclaration = {
  name: 'exact_match',
  passes: 'the output equals the answer, or one of a list of answers',
  example: '“Paris” is right, “It is Paris” is not',
  options: {
    ignore_case: IGNORE_CASE,
    trim: option('boolean', 'whether blanks around both are ignored', { default: true }),
  },
  check: exactMatch,
  isCheap: true,
  unscorableReason: (item) => {
    const answer = referenceAnswer(item);
    const isNone = answer === undefined || (Array.isArray(answer) && answer.length === 0);
    return isNone ? 'no_answer' : null;
  },
};
