import type { Item } from '@svc/jsonl-v23';
import { canonicalJson, ExactNumber, getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { excerpt } from '../item/canonical-text.ts';
import type { DecimalSign } from '../reading/quantities.ts';
import { absolute, isWithin, type Rational, showRational, times } from '../reading/rational.ts';
import { fromLiteral, readAnswerNumber, readNumber } from '../reading/read-number.ts';
import { RunError } from '../run-error.ts';
import {
  type Checker,
  type CheckerDeclaration,
  NO_ANSWER,
  option,
  passedOrNot,
  referenceAnswer,
  stringOption,
  UNREADABLE,
  unscored,
} from './checker.ts';

/**
 * `numeric`: the number that the output states (see {@link readNumber}) differs from the answer's by at most `tolerance`,
 * or by `relative_tolerance` of it (both 0), compared exactly. If `answer` is a list, one of its numbers has to fit.
 */
const numeric: Checker = ({ output, item, options }) => {
  const tolerance = limitOf(options, 'tolerance');
  const relative = limitOf(options, 'relative_tolerance');
  const decimal = decimalOf(options);
  if (referenceAnswer(item) === undefined) return NO_ANSWER;
  const expected = answerNumbers(item, decimal);
  if (expected.length === 0) return unscored('The item has no number as its answer');
  const found = readNumber(output, decimal);
  if (found === undefined) return passedOrNot(false, UNREADABLE.number);
  return passedOrNot(
    expected.some(
      (one) =>
        isWithin(found.value, one, tolerance) || isWithin(found.value, one, times(relative, absolute(one))),
    ),
    `Read ${showRational(found.value)} from ${excerpt(found.words, 200)}`,
  );
};

/** The numbers that an output may have. */
function answerNumbers(item: Item, decimal: DecimalSign): Rational[] {
  const answer = referenceAnswer(item) ?? [];
  return (Array.isArray(answer) ? answer : [answer])
    .map((one) => readAnswerNumber(one, decimal))
    .filter((one) => one !== undefined);
}

/** @throws RunError `checker_invalid` */
function decimalOf(options: JsonObject): DecimalSign {
  const decimal = stringOption(options, 'decimal') ?? '.';
  if (decimal === '.' || decimal === ',') return decimal;
  throw new RunError('checker_invalid', 'checker.decimal must be "." or ",".');
}

/** @throws RunError `checker_invalid` */
function limitOf(options: JsonObject, name: 'tolerance' | 'relative_tolerance'): Rational {
  const value = getMember(options, name) ?? 0;
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  const literal = isNumber ? canonicalJson(value) : '-';
  if (!literal.startsWith('-')) return fromLiteral(literal);
  throw new RunError('checker_invalid', `checker.${name} must be a number of at least 0.`);
}

export const NUMERIC: CheckerDeclaration = {
  name: 'numeric',
  passes:
    'the number that the output states is the answer, or differs from it by at most a tolerance, in exact arithmetic',
  example: '“So she has 1,000.0 in 3 accounts” is right for 1000',
  options: {
    tolerance: option('number', 'how far off it may be', { minimum: 0, default: 0 }),
    relative_tolerance: option('number', 'how far off it may be, as a part of the answer', {
      minimum: 0,
      default: 0,
    }),
    decimal: option('string', 'the decimal sign of answers and outputs: `.` or `,`', {
      enum: ['.', ',', null],
      default: '.',
    }),
  },
  check: numeric,
  isCheap: true,
  unscorableReason: (item, options) =>
    answerNumbers(item, decimalOf(options)).length === 0 ? 'no_answer' : null,
};
