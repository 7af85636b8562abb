import { canonicalJson, canonicalNumber, ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { checkerLimit } from '../check-limits.ts';
import { type CleanText, cleanText } from './clean-text.ts';
import { MINUS_WORDS } from './languages.ts';
import { type DecimalSign, findQuantities, type Quantity } from './quantities.ts';
import { quoted } from './quoted.ts';
import { fromDecimal, powerOfTen, type Rational, rational, times } from './rational.ts';
import { type Name, type Statement, skipFillers, toStatement, type Unit } from './statement.ts';
import { hasAny, splitWords, type Word } from './words.ts';

/** Characters of an output, from its end, that are searched for its number. */
const MAX_SEARCHED_CHARS = 100_000;
/** Characters of an answer: one number, or a solution that ends with `####` and one. */
const MAX_NUMBER_CHARS = 10_000;

interface ReadNumber {
  readonly value: Rational;
  readonly words: string;
}

/**
 * Reads the number of an output, as docs/scoring.md describes: the number in the last `\boxed{}`, else after the last
 * `####`, else of the last conclusion, else the last one.
 *
 * @returns undefined if there is none, or what stands there is no number: a range, a root, two numbers
 * @throws RunError `checker_limit` for over 10,000 digits
 */
export function readNumber(output: JsonValue, decimal: DecimalSign): ReadNumber | undefined {
  const value = numberOf(output);
  if (value !== undefined) return { value, words: quoted(canonicalJson(output)) };
  if (typeof output !== 'string') return undefined;
  return readText(output.slice(-MAX_SEARCHED_CHARS).toWellFormed().normalize('NFC'), decimal);
}

/**
 * Reads a reference answer that is one number, with a currency, a unit or `####` around it. A fraction, a mixed number
 * and a percentage are numbers (`50%` is 50).
 *
 * @returns undefined if it is anything else, such as `(1,2)`, `12:30` or `5\sqrt{2}`
 * @throws RunError `checker_limit` for over 10,000 digits
 */
export function readAnswerNumber(answer: JsonValue, decimal: DecimalSign = '.'): Rational | undefined {
  const value = numberOf(answer);
  if (value !== undefined || typeof answer !== 'string') return value;
  const marked = answer.lastIndexOf('####');
  const text = marked < 0 ? answer : answer.slice(marked + 4);
  return text.length > 2 * MAX_NUMBER_CHARS ? undefined : onlyNumber(text, decimal, false)?.value;
}

/** A JSON number, exactly. */
function numberOf(value: JsonValue): Rational | undefined {
  if (typeof value !== 'number' && !(value instanceof ExactNumber)) return undefined;
  return fromLiteral(canonicalJson(value));
}

/** The number of a literal of JSON. @throws RunError `checker_limit` */
export function fromLiteral(literal: string): Rational {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(canonicalNumber(literal));
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match ?? [];
  if (literal.length > MAX_NUMBER_CHARS || Math.abs(Number(exponent)) > MAX_NUMBER_CHARS) {
    throw checkerLimit(
      `A number must have at most ${MAX_NUMBER_CHARS} characters to be compared, got ${literal.length}.`,
    );
  }
  const size = times(fromDecimal(`${whole}.${fraction}`), powerOfTen(Number(exponent)));
  return sign === '-' ? times(size, rational(-1n)) : size;
}

function readText(text: string, decimal: DecimalSign): ReadNumber | undefined {
  const box = lastBox(text);
  if (box !== undefined) {
    const inside = text.slice(box.from, box.to);
    const only = onlyNumber(inside, decimal, true);
    if (only !== undefined) return { value: only.value, words: quoted(text, box.start, box.to + 1) };
    if (inside.trim() !== '') return readPlain(text.slice(box.to + 1), decimal);
  }
  return readPlain(text, decimal);
}

function readPlain(text: string, decimal: DecimalSign): ReadNumber | undefined {
  return afterMark(text, decimal) ?? readSentences(text, decimal);
}

/** The last `\boxed{}` that holds no other one, by its indexes. */
function lastBox(text: string): { start: number; from: number; to: number } | undefined {
  let found: { start: number; from: number; to: number } | undefined;
  let open: { start: number; from: number; depth: number } | null = null;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\' && /^\\f?boxed\s?\{/.test(text.slice(at, at + 10))) {
      const from = text.indexOf('{', at) + 1;
      depth += 1;
      open = { start: at, from, depth };
      at = from - 1;
    } else if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      if (open !== null && open.depth === depth) {
        found = { start: open.start, from: open.from, to: at };
        open = null;
      }
      depth -= 1;
    }
  }
  return found;
}

/** The number of the line after the last `####`, if it is all of that line. */
function afterMark(text: string, decimal: DecimalSign): ReadNumber | undefined {
  const mark = text.lastIndexOf('####');
  if (mark < 0 || text[mark + 4] === '#') return undefined;
  const line = text.slice(mark + 4).split('\n', 1)[0] ?? '';
  const only = line.length > MAX_NUMBER_CHARS ? undefined : onlyNumber(line, decimal, true);
  return only === undefined ? undefined : { value: only.value, words: quoted(`####${line}`) };
}

/** Codes of currencies, and marks, that may stand before the only number of a text, ... */
const BEFORE = new Set('usd|eur|gbp|inr|rs|us|aud|cad|hk|nt|r|$|€|£|¥|₹|₩|₽|(|{|[|~|≈|.|='.split('|'));
/** ... and marks that may stand after it, with the words of its unit: at most six. */
const AFTER = new Set(".|!|;|,|°|%|$|€|£|¥|₹|₩|₽|)|}|]|~|/|^|·|'|-|{|。".split('|'));
const MAX_UNIT_WORDS = 6;
const MAX_AROUND_CHARS = 200;

/** The number of a text that says nothing else, except what it is equal to if `isOutput`. */
function onlyNumber(
  text: string,
  decimal: DecimalSign,
  isOutput: boolean,
): { readonly value: Rational } | undefined {
  const equals = isOutput
    ? Math.max(text.lastIndexOf('='), text.lastIndexOf('≈'), text.lastIndexOf('\\approx'))
    : -1;
  const [only, ...others] = findQuantities(text, decimal).filter(
    ({ start, isInName }) => !isInName && start > equals,
  );
  if (only?.value == null || others.length > 0) return undefined;
  // "x = 3, y = 4" states two numbers.
  if (equals >= 0 && text.slice(0, equals).includes(',')) return undefined;
  const before = text.slice(Math.max(0, equals), only.start);
  const after = text.slice(only.end);
  if (before.length > MAX_AROUND_CHARS || after.length > MAX_AROUND_CHARS) return undefined;
  const leading = wordsOf(before);
  const isNamed = isOutput && leading.at(-1)?.text === ':';
  if (!isNamed && !leading.every((word) => BEFORE.has(word.text))) return undefined;
  const trailing = wordsOf(after);
  const isPower = (at: number): boolean =>
    '23'.includes(trailing[at]?.text ?? ' ') && /^[\^{]$/.test(trailing[at - 1]?.text ?? '');
  const units = trailing.filter(({ isMark }) => !isMark).length;
  const isUnit = trailing.every(({ isMark, text: word }, at) =>
    isMark ? AFTER.has(word) : !/\d/.test(word) || isPower(at),
  );
  const isPair =
    leading.some((word) => '(['.includes(word.text)) && trailing.some((word) => word.text === ',');
  return isUnit && units <= MAX_UNIT_WORDS && !isPair ? { value: only.value } : undefined;
}

const wordsOf = (text: string): Word[] => splitWords(cleanText(text).folded);

/** The number of the last conclusion, else the last one. */
function readSentences(text: string, decimal: DecimalSign): ReadNumber | undefined {
  const quantities = findQuantities(text, decimal);
  if (quantities.length === 0) return undefined;
  const clean = cleanText(text);
  const statement = toStatement(splitWords(clean.folded), namesOf(quantities, clean), clean.text);
  const stated = lastStated(statement, quantities);
  if (stated !== undefined) return found(stated);
  for (let at = statement.units.length - 1; at >= 0; at -= 1) {
    const name = statement.units[at]?.name;
    if (name == null || quantities[name.of]?.isInName || statement.isDenied[at] === 1) continue;
    return isUnclear(statement, quantities, at) ? undefined : found(at);
  }
  return undefined;

  function found(at: number): ReadNumber | undefined {
    const value = valueAt(statement, quantities, at);
    return value === null ? undefined : { value, words: wordsAround(statement, clean, at) };
  }
}

function namesOf(quantities: readonly Quantity[], clean: CleanText): Name[] {
  const names: Name[] = [];
  let at = 0;
  for (const [of, { start, end }] of quantities.entries()) {
    while (at < clean.at.length && (clean.at[at] ?? 0) < start) at += 1;
    const from = at;
    while (at < clean.at.length && (clean.at[at] ?? 0) < end) at += 1;
    if (at > from)
      names.push({ start: from, end: at, of, isLabel: false, isLabelled: false, isOwnCase: true });
  }
  return names;
}

/** The unit of the number that the last conclusion states. */
function lastStated(statement: Statement, quantities: readonly Quantity[]): number | undefined {
  const { units, rolesAt, sentenceStart, isHypothetical } = statement;
  for (let index = units.length - 1; index >= 0; index -= 1) {
    const roles = rolesAt(index);
    if (isHypothetical[index] === 1 || !hasAny(roles, 'answer', 'so')) continue;
    if (roles.has('answer')) {
      const verb = verbAfter(statement, roles.get('answer') ?? index + 1, index);
      const at =
        verb === null || isOtherAnswer(statement, index)
          ? undefined
          : numberFrom(statement, quantities, verb, false);
      if (at !== undefined) return at;
    }
    const isStart = index === sentenceStart[index] || units[index - 1]?.isMark === true;
    if (roles.has('so') && isStart) {
      const from = roles.get('so') ?? index + 1;
      const at = numberAfterVerb(statement, from, index) ?? numberFrom(statement, quantities, from, true);
      if (at !== undefined) return at;
    }
  }
  return undefined;
}

/** Whether a number is one of several that a conclusion names without saying which: "so she makes 18 dollars in 2 days". */
function isUnclear(statement: Statement, quantities: readonly Quantity[], at: number): boolean {
  const { units, rolesAt, sentenceStart } = statement;
  for (let index = sentenceStart[at] ?? 0; index < at; index += 1) {
    const from = rolesAt(index).get('so');
    const isStart = index === sentenceStart[index] || units[index - 1]?.isMark === true;
    if (from !== undefined && isStart) return numberFrom(statement, quantities, from, true) === undefined;
  }
  return false;
}

/** The number right after a verb in a sentence without "answer": "so the total is 55 of 60". */
function numberAfterVerb(statement: Statement, from: number, index: number): number | undefined {
  const { units, rolesAt, sentenceEnd, isDenied } = statement;
  const limit = Math.min(sentenceEnd[index] ?? 0, from + 40);
  for (let at = from; at < limit; at += 1) {
    const verb = rolesAt(at).get('is');
    if (verb === undefined) continue;
    const next = skipFillers(statement, verb);
    const goesOn = units.slice(next, limit).some(({ text }) => text === '=');
    if (units[next]?.name != null && isDenied[next] !== 1 && !goesOn) return next;
  }
  return undefined;
}

/** The index after the verb of a subject: "the answer to question 3 is", "Answer:"; null without one. */
function verbAfter({ units, rolesAt, sentenceEnd }: Statement, from: number, index: number): number | null {
  const limit = Math.min(sentenceEnd[index] ?? 0, from + 12);
  for (let at = from; at < limit; at += 1) {
    const unit = units[at] as Unit;
    const verb = rolesAt(at).get('is');
    if (verb !== undefined) return verb;
    if (unit.isMark && (':=→'.includes(unit.text) || (at === from && '>—–-'.includes(unit.text))))
      return at + 1;
  }
  return units[from]?.name == null ? null : from;
}

function isOtherAnswer({ units, rolesAt }: Statement, index: number): boolean {
  if (units[index - 1]?.text === '/') return true;
  for (let at = index - 1; at >= Math.max(0, index - 2); at -= 1) {
    if (units[at]?.isMark || units[at]?.name != null) return false;
    if (hasAny(rolesAt(at), 'other', 'wrong')) return true;
  }
  return false;
}

/**
 * The number that a sentence states from a place on: what follows the last `=`, else its first one.
 *
 * @param isOnly whether it counts only if there is no other, since the sentence has no verb that says which
 */
function numberFrom(
  { units, isDenied, sentenceEnd }: Statement,
  quantities: readonly Quantity[],
  from: number,
  isOnly: boolean,
): number | undefined {
  let start = from;
  while (units[start]?.text === '\n') start += 1;
  const end = sentenceEnd[Math.min(start, units.length - 1)] ?? 0;
  let first: number | undefined;
  let afterEquals: number | undefined;
  let count = 0;
  let isAfter = false;
  for (let at = start; at < end; at += 1) {
    const { name, text, isMark } = units[at] as Unit;
    if (isMark && (text === '=' || text === '≈')) {
      isAfter = true;
      afterEquals = undefined;
    }
    if (name === null || isDenied[at] === 1 || quantities[name.of]?.isInName) continue;
    count += 1;
    first ??= at;
    if (isAfter) afterEquals ??= at;
  }
  if (afterEquals !== undefined) return afterEquals;
  return isOnly && count > 1 ? undefined : first;
}

/** The value of a number that stands on its own: no operand, no member of a list, a pair or a range. */
function valueAt(
  { units, rolesAt }: Statement,
  quantities: readonly Quantity[],
  at: number,
): Rational | null {
  const value = quantities[units[at]?.name?.of ?? -1]?.value ?? null;
  const isNumber = (index: number): boolean =>
    units[index]?.name != null && !quantities[units[index]?.name?.of ?? -1]?.isInName;
  const isOperator = (index: number): boolean =>
    units[index]?.isMark === true && '+*×÷·±'.includes(units[index]?.text ?? ' ');
  const isOperand = (index: number): boolean =>
    isNumber(index) || /^(?:\p{L}|[()])$/u.test(units[index]?.text ?? '');
  const isMinus = (index: number): boolean =>
    units[index]?.isMark === true && '-–'.includes(units[index]?.text ?? ' ');
  if (MINUS_WORDS.has(units[at - 1]?.text ?? '')) return null;
  if ((isOperator(at - 1) && isOperand(at - 2)) || (isOperator(at + 1) && isOperand(at + 2))) return null;
  if ((isMinus(at - 1) && isNumber(at - 2)) || (isMinus(at + 1) && isNumber(at + 2))) return null;
  const isComma = (index: number): boolean => units[index]?.text === ',';
  const isEnd = (index: number): boolean =>
    units[index] === undefined || (units[index]?.isMark === true && units[index]?.text !== '(');
  const joins = (index: number): boolean =>
    units[index]?.name === null && (isComma(index) || rolesAt(index).has('join'));
  if (joins(at - 1) && isNumber(at - 2) && isEnd(at + 1)) return null;
  if (joins(at + 1) && isNumber(at + 2) && isEnd(at + 3)) return null;
  // "x = 3, y = 4" states two numbers.
  const isEquation = units[at - 1]?.text === '=' && /^\p{L}$/u.test(units[at - 2]?.text ?? '');
  if (isEquation && joins(at - 3) && isNumber(at - 4)) return null;
  return value;
}

function wordsAround({ units, sentenceStart }: Statement, clean: CleanText, at: number): string {
  const from = Math.max(sentenceStart[at] ?? 0, at - 6);
  const start = clean.at[units[from]?.start ?? 0] ?? 0;
  const end = clean.at[(units[at]?.end ?? 1) - 1] ?? 0;
  return quoted(clean.source, start, end + 1);
}
