import { canonicalJson } from '@svc/jsonl-v23/json';
import { comparableText } from '../reading/comparable-text.ts';
import { compared } from '../reading/quoted.ts';
import { checker, flag, IGNORE_CASE, NO_ANSWER, passedOrNot, referenceAnswer } from './checker.ts';

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
