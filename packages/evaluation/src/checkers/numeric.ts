import type { Item } from '@svc/jsonl-v23';
import {
  canonicalJson,
  canonicalNumber,
  ExactNumber,
  getMember,
  type JsonObject,
  type JsonValue,
} from '@svc/jsonl-v23/json';
import { RunError } from '../run-error.ts';
import { checkerLimit } from './check-limits.ts';
import { type Checker, NO_ANSWER, passedOrNot, referenceAnswer, UNREADABLE, unscored } from './checker.ts';
import { type CheckerDeclaration, option } from './declaration.ts';

/** Characters of an output, from its end, that are searched for its number. */
const MAX_SEARCHED_CHARS = 100_000;

/** Characters of a number. Comparing takes quadratic time. */
const MAX_NUMBER_CHARS = 10_000;

/** A sign counts unless it could be an operator (`10-20` is two numbers). */
const NUMBERS =
  /(?:(?<![\w)\]])[-+][$€£]?)?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?/gi;

/**
 * `numeric`: the number in the output differs from the answer's by at most `tolerance` (0), compared exactly. The number
 * of a text is the last one in it, since reasoning comes before its result. Groups of thousands (`1,234`), a Unicode
 * minus and exponents are supported; units and currency signs around the number are ignored. If `answer` is a list, one
 * of its numbers has to fit.
 */
const numeric: Checker = ({ output, item, options }) => {
  const tolerance = toleranceOf(options);
  if (referenceAnswer(item) === undefined) return NO_ANSWER;
  const expected = answerNumbers(item);
  if (expected.length === 0) return unscored('The item has no number as its answer');
  const found = numberIn(output);
  if (found === undefined) return passedOrNot(false, UNREADABLE.number);
  return passedOrNot(
    expected.some((one) => isWithin(found, one, tolerance)),
    `Read as ${found}`,
  );
};

/** The numbers that an output may have. */
function answerNumbers(item: Item): string[] {
  const answer = referenceAnswer(item) ?? [];
  return (Array.isArray(answer) ? answer : [answer]).map(numberIn).filter((one) => one !== undefined);
}

/** The number of a value, or the last one in its text, as a canonical literal; undefined without one. */
function numberIn(value: JsonValue): string | undefined {
  if (typeof value === 'number' || value instanceof ExactNumber) return limited(canonicalJson(value));
  if (typeof value !== 'string') return undefined;
  const text = value.slice(-MAX_SEARCHED_CHARS).replaceAll('\u2212', '-');
  const last = text.match(NUMBERS)?.at(-1);
  return last === undefined ? undefined : toLiteral(limited(last));
}

function limited(written: string): string {
  if (written.length <= MAX_NUMBER_CHARS) return written;
  throw checkerLimit(
    `A number must have at most ${MAX_NUMBER_CHARS} characters to be compared, got ${written.length}.`,
  );
}

function toLiteral(written: string): string | undefined {
  const json = written
    .replace(/^\+|[,$€£]/g, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/^(-?)0+(?=\d)/, '$1');
  try {
    return canonicalNumber(json);
  } catch {
    return undefined; // The exponent is too large.
  }
}

function toleranceOf(options: JsonObject): string {
  const value = getMember(options, 'tolerance') ?? 0;
  const literal =
    typeof value === 'number' || value instanceof ExactNumber ? canonicalJson(value) : undefined;
  if (literal === undefined || literal.startsWith('-')) {
    throw new RunError('checker_invalid', 'checker.tolerance must be a number of at least 0.');
  }
  return literal;
}

/** An exact decimal number: `digits` × 10^−`scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * Whether two JSON number literals differ by at most `tolerance`, compared exactly and not as doubles: 1.1 and 1 differ
 * by 0.1.
 */
function isWithin(a: string, b: string, tolerance: string): boolean {
  const [x, y, limit] = [toDecimal(a), toDecimal(b), toDecimal(tolerance)];
  const scale = Math.max(x.scale, y.scale, limit.scale);
  const distance = scaled(x, scale) - scaled(y, scale);
  return (distance < 0n ? -distance : distance) <= scaled(limit, scale);
}

function toDecimal(literal: string): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(canonicalNumber(literal));
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match ?? [];
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

function scaled({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}

export const NUMERIC: CheckerDeclaration = {
  name: 'numeric',
  passes: 'the last number in the output is within `tolerance` of the answer, in decimal arithmetic',
  example: '“1,000.0” is right for 1000; the last number counts',
  options: { tolerance: option('number', 'how far off it may be', { minimum: 0, default: 0 }) },
  check: numeric,
  isCheap: true,
  unscorableReason: (item) => (answerNumbers(item).length === 0 ? 'no_answer' : null),
};
