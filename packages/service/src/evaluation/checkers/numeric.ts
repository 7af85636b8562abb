import { canonicalJson, ExactNumber, getMember } from '@svc/jsonl-v23/json';
import { excerpt } from '../item/canonical-text.ts';
import type { DecimalSign } from '../reading/quantities.ts';
import { absolute, isWithin, type Rational, showRational, times } from '../reading/rational.ts';
import { fromLiteral, readAnswerNumber, readNumber } from '../reading/read-number.ts';
import { RunError } from '../run-error.ts';
import {
  checker,
  NO_ANSWER,
  type Option,
  optionSchema,
  passedOrNot,
  referenceAnswer,
  stringOption,
  UNREADABLE,
  Unscorable,
} from './checker.ts';

const decimalSign = (description: string): Option<DecimalSign> => ({
  schema: optionSchema('string', description, { enum: ['.', ',', null], default: '.' }),
  read(options, name) {
    const decimal = stringOption(options, name) ?? '.';
    if (decimal === '.' || decimal === ',') return decimal;
    throw new RunError('checker_invalid', `checker.${name} must be "." or ",".`);
  },
});

const limit = (description: string): Option<Rational> => ({
  schema: optionSchema('number', description, { minimum: 0, default: 0 }),
  read(options, name) {
    const value = getMember(options, name) ?? 0;
    const isNumber = typeof value === 'number' || value instanceof ExactNumber;
    const literal = isNumber ? canonicalJson(value) : '-';
    if (!literal.startsWith('-')) return fromLiteral(literal);
    throw new RunError('checker_invalid', `checker.${name} must be a number of at least 0.`);
  },
});

/** {@link readNumber} says which number an output states. If the answer is a list, one of its numbers has to fit. */
export const NUMERIC = checker({
  name: 'numeric',
  passes:
    'the number that the output states is the answer, or differs from it by at most a tolerance, in exact arithmetic',
  example: '“So she has 1,000.0 in 3 accounts” is right for 1000',
  options: {
    tolerance: limit('how far off it may be'),
    relative_tolerance: limit('how far off it may be, as a part of the answer'),
    decimal: decimalSign('the decimal sign of answers and outputs: `.` or `,`'),
  },
  isCheap: true,
  expected(item, { decimal }) {
    const answer = referenceAnswer(item);
    if (answer === undefined) return NO_ANSWER;
    const numbers = (Array.isArray(answer) ? answer : [answer])
      .map((one) => readAnswerNumber(one, decimal))
      .filter((one) => one !== undefined);
    return numbers.length === 0
      ? new Unscorable('no_answer', 'The item has no number as its answer')
      : numbers;
  },
  compare(output, numbers, { tolerance, relative_tolerance: relative, decimal }) {
    const found = readNumber(output, decimal);
    if (found === undefined) return passedOrNot(false, UNREADABLE.number);
    return passedOrNot(
      numbers.some(
        (one) =>
          isWithin(found.value, one, tolerance) || isWithin(found.value, one, times(relative, absolute(one))),
      ),
      `Read ${showRational(found.value)} from ${excerpt(found.words, 200)}`,
    );
  },
});
