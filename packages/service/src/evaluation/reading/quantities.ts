/*
 * One file: what stands on both sides of a number decides what it is, and each of these rules is a few lines.
 */

import { checkerLimit } from '../check-limits.ts';
import { MULTIPLIERS } from './languages.ts';
import { fromDecimal, plus, powerOfTen, type Rational, rational, times } from './rational.ts';
import { isUnspaced } from './words.ts';

/** Characters of a number. Comparing takes quadratic time. */
const MAX_NUMBER_CHARS = 10_000;
/** A larger exponent is no number that anybody compares. */
const MAX_EXPONENT = 5_000;

/** A number of a text, with what is joined to it. */
export interface Quantity {
  readonly start: number;
  /** Index after the number, its unit signs and multipliers. */
  readonly end: number;
  /** Null if it is part of something that is no number: a root, a power, a date, a range. */
  readonly value: Rational | null;
  /** Whether it is a part of a name, such as `CO2` or `item5`, and says nothing. */
  readonly isInName: boolean;
}

/** The sign between whole numbers and decimals. */
export type DecimalSign = '.' | ',';

const FRACTION_COMMAND = /\\[dtc]?frac/y;
const VULGAR: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['½', [1n, 2n]],
  ['⅓', [1n, 3n]],
  ['⅔', [2n, 3n]],
  ['¼', [1n, 4n]],
  ['¾', [3n, 4n]],
  ['⅕', [1n, 5n]],
  ['⅖', [2n, 5n]],
  ['⅗', [3n, 5n]],
  ['⅘', [4n, 5n]],
  ['⅙', [1n, 6n]],
  ['⅚', [5n, 6n]],
  ['⅛', [1n, 8n]],
  ['⅜', [3n, 8n]],
  ['⅝', [5n, 8n]],
  ['⅞', [7n, 8n]],
]);

const MAY_BEGIN = /[\d.,\\½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]/;
/** Signs between groups of three digits, with the comma or point that is not the decimal sign. */
const GROUP_SIGN = /(?:\{,\}|,\\!|\\[,!;: ]|['’\u00a0\u2009\u202f\u2007\u2008\u200a])(?=\d)/y;
const POWER_OF_TEN =
  /\s{0,2}(?:\\times|\\cdot|[×x*·⋅])\s{0,2}10\s{0,2}(?:\^\s{0,2}(?:\{\s{0,2}([-+\u2212]?\d{1,6})\s{0,2}\}|([-+\u2212]?\d{1,6}))|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))/y;
const EXPONENT = /[eE]([-+\u2212]?\d{1,6})(?![\p{L}\p{N}])/uy;
const SIMPLE_FRACTION = /\/(\d{1,40})(?![\d.,]\d|\d)/y;
const MIXED_FRACTION = /[ \u00a0](\d{1,40})\/(\d{1,40})(?![\d/])/y;
const PERCENT_OR_DEGREE =
  /\s?(?:\\?%|％|\^\s?\{?\s?\\circ\s?\}?|\\degree|[°º])(?:\s?(?:\\(?:text|mathrm)\{\s?)?[CF](?![\p{L}\p{N}])\}?)?/uy;
const TEXT_COMMAND = /\s?(?:\\[,;: ~!])?\s?\\(?:text|textbf|textrm|mathrm|mathbf|mbox|hbox|rm|bf)\b/y;
const WORD = /[\p{L}\p{M}]{1,16}/uy;
const SUPERSCRIPT = '⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹';
/** Units that are written without a blank, besides signs. */
const UNITS = new Set(
  'kg|g|mg|lb|lbs|oz|km|cm|mm|nm|ft|mi|mph|kph|kmh|ml|dl|cl|l|kl|hr|hrs|h|min|mins|sec|secs|ms|kwh|kw|mw|w|hz|khz|mhz|ghz|gb|mb|kb|tb|pa|kpa|kj|mol|usd|eur|gbp|inr|rs|am²|px|db|mah|ev|yrs|yr|sq|pts|pcs|cal|kcal|mph|rpm'.split(
    '|',
  ),
);
/** Commands of LaTeX after a number that leave it as it is. */
const HARMLESS = new Set(
  'text|textbf|textrm|mathrm|mathbf|mbox|quad|qquad|right|left|approx|le|leq|ge|geq|ne|neq|lt|gt|to|rightarrow|implies|ldots|dots|boxed|end|times|cdot|div|pm|circ|degree|rm|bf|because|therefore|newline|hspace|hline|and|or|sim|simeq|equiv|cup|cap|in|Rightarrow|leftarrow|text|displaystyle|mod|bmod|pmod|color|tag|rangle|rfloor|rceil'.split(
    '|',
  ),
);
const DASHES = '-\u2212–—\u2011';
const CURRENCIES = '$€£¥₹₩₽￥₫₺฿¢';

/**
 * The numbers of a text, with what is joined to them. A number that is joined to something else, such as `2\pi`, `70k`,
 * `10-15` or `3,5`, has no value.
 *
 * @throws RunError `checker_limit` for over 10,000 digits
 */
export function findQuantities(text: string, decimal: DecimalSign): Quantity[] {
  const found: Quantity[] = [];
  for (let at = 0; at < text.length; ) {
    if (!MAY_BEGIN.test(text[at] ?? '')) {
      at += 1;
      continue;
    }
    const scanner = new Scanner(text, at, decimal);
    const quantity = scanner.read(found.at(-1)?.end ?? 0);
    if (quantity === null) at += 1;
    else {
      found.push(quantity);
      at = quantity.end;
    }
  }
  return found;
}

class Scanner {
  readonly #text: string;
  readonly #start: number;
  readonly #decimal: DecimalSign;
  #at: number;
  #isJoined = false;

  constructor(text: string, start: number, decimal: DecimalSign) {
    this.#text = text;
    this.#start = start;
    this.#at = start;
    this.#decimal = decimal;
  }

  /** Reads a number that begins here. @param limit end of the one before it */
  read(limit: number): Quantity | null {
    const magnitude = this.#magnitude();
    if (magnitude === null) return null;
    const before = this.#before(limit);
    let value: Rational | null = magnitude.value;
    value = this.#scaled(value);
    this.#after();
    const isWhole = value !== null && !this.#isJoined && before.isFree;
    const signed = value === null || !before.isNegative ? value : times(value, rational(-1n));
    return {
      start: before.start,
      end: this.#at,
      value: isWhole ? signed : null,
      isInName: before.isInName,
    };
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  #magnitude(): { readonly value: Rational | null } | null {
    const text = this.#text;
    const first = text[this.#at] ?? '';
    const vulgar = VULGAR.get(first);
    if (vulgar !== undefined) {
      this.#at += 1;
      return { value: rational(...vulgar) };
    }
    if (first === '\\')
      return this.#match(FRACTION_COMMAND) === null ? null : { value: this.#latexFraction() };
    const isPoint = first === this.#decimal && !isDigit(text[this.#at - 1]) && isDigit(text[this.#at + 1]);
    if (!isDigit(first) && !isPoint) return null;
    const value = this.#digits();
    if (value === null) return { value };
    return { value: this.#fraction(value) };
  }

  /** `{3}{2}` or `32` after `\frac`; null for anything else in it. The end is then the end of the braces. */
  #latexFraction(): Rational | null {
    const parts: (Rational | null)[] = [];
    for (let part = 0; part < 2; part += 1) {
      while (this.#text[this.#at] === ' ') this.#at += 1;
      const next = this.#text[this.#at] ?? '';
      if (isDigit(next)) {
        this.#at += 1;
        parts.push(fromDecimal(next));
      } else if (next === '{') {
        const close = closingBrace(this.#text, this.#at);
        const inside = this.#text.slice(this.#at + 1, close);
        this.#at = Math.min(this.#text.length, close + 1);
        parts.push(simpleNumber(inside, this.#decimal));
      } else parts.push(null);
    }
    const [top, bottom] = parts;
    if (top == null || bottom == null || bottom.numerator === 0n) return null;
    return times(top, rational(bottom.denominator, bottom.numerator));
  }

  #digits(): Rational | null {
    const groups: string[] = [];
    const from = this.#at;
    let isPlainGroup = false;
    groups.push(this.#run());
    const isGroupSign = this.#decimal === '.' ? ',' : '.';
    for (;;) {
      const before = this.#at;
      const isSign = this.#text[before] === isGroupSign && isDigit(this.#text[before + 1]);
      const isBlank =
        this.#text[before] === ' ' && this.#hasThreeDigits(before + 1) && (groups.at(-1)?.length ?? 4) <= 3;
      if (this.#decimal === ',' && '{,'.includes(this.#text[before] ?? ' ')) break;
      if (isSign || isBlank) this.#at += 1;
      else if (this.#match(GROUP_SIGN) === null) break;
      const isSpace = /\s$/.test(this.#text.slice(before, this.#at));
      if (isSpace && !this.#hasThreeDigits(this.#at)) {
        this.#at = before;
        break;
      }
      isPlainGroup ||= isBlank;
      groups.push(this.#run());
    }
    let decimals = '';
    const sign = this.#decimal === ',' && this.#text.startsWith('{,}', this.#at) ? 3 : 1;
    const isDecimal = sign === 3 || this.#text[this.#at] === this.#decimal;
    if (isDecimal && isDigit(this.#text[this.#at + sign])) {
      this.#at += sign;
      decimals = this.#run();
      if (!/^\d+$/.test(decimals)) return null;
    }
    // Another sign after the decimals, as in 1.2.3 or 1.234,56.
    while (
      this.#at < this.#text.length &&
      '.,'.includes(this.#text[this.#at] ?? ' ') &&
      isDigit(this.#text[this.#at + 1])
    ) {
      this.#at += 1;
      this.#run();
      this.#isJoined = true;
    }
    if (this.#isJoined || isPlainGroup || (groups.length > 1 && !areGroups(groups))) return null;
    if (this.#at - from > MAX_NUMBER_CHARS) {
      throw checkerLimit(
        `A number must have at most ${MAX_NUMBER_CHARS} characters to be compared, got ${this.#at - from}.`,
      );
    }
    return fromDecimal(`${groups.join('') || '0'}.${decimals}`);
  }

  #run(): string {
    const from = this.#at;
    while (isDigit(this.#text[this.#at])) this.#at += 1;
    return this.#text.slice(from, this.#at);
  }

  #hasThreeDigits(at: number): boolean {
    const text = this.#text;
    return (
      isDigit(text[at]) && isDigit(text[at + 1]) && isDigit(text[at + 2]) && !/[\d/]/.test(text[at + 3] ?? '')
    );
  }

  /** What follows digits to make a fraction or a mixed number of them. */
  #fraction(value: Rational): Rational | null {
    const isInteger = value.denominator === 1n;
    const from = this.#at;
    const simple = this.#match(SIMPLE_FRACTION);
    if (simple !== null) {
      const bottom = BigInt(simple[1] ?? '1');
      if (this.#text[this.#at] === '/' || bottom === 0n) {
        this.#isJoined = true;
        return null;
      }
      return times(value, rational(1n, bottom));
    }
    if (!isInteger) return value;
    const mixed = this.#match(MIXED_FRACTION);
    if (mixed !== null) {
      const [top, bottom] = [BigInt(mixed[1] ?? '0'), BigInt(mixed[2] ?? '1')];
      if (bottom > 0n && top < bottom) return plus(value, rational(top, bottom));
      this.#at = from;
      return value;
    }
    if (this.#text[this.#at] === ' ') this.#at += 1;
    const vulgar = VULGAR.get(this.#text[this.#at] ?? '');
    if (vulgar !== undefined) {
      this.#at += 1;
      return plus(value, rational(...vulgar));
    }
    if (this.#match(FRACTION_COMMAND) !== null) {
      const part = this.#latexFraction();
      if (part === null) this.#isJoined = true;
      return part === null ? null : plus(value, part);
    }
    this.#at = from;
    return value;
  }

  /** Exponents, per cent, degrees, and words that multiply. */
  #scaled(magnitude: Rational | null): Rational | null {
    let value = magnitude;
    const power = this.#match(EXPONENT) ?? this.#match(POWER_OF_TEN);
    if (power !== null) {
      const written =
        power[1] ??
        power[2] ??
        [...(power[3] ?? '0')].map((one) => '-+0123456789'[SUPERSCRIPT.indexOf(one)]).join('');
      const exponent = Number(written.replace('\u2212', '-'));
      value = value === null || Math.abs(exponent) > MAX_EXPONENT ? null : times(value, powerOfTen(exponent));
    }
    this.#match(PERCENT_OR_DEGREE);
    for (let words = 0; words < 2; words += 1) {
      const from = this.#at;
      if (!isUnspaced(this.#text[from] ?? '')) {
        this.#match(TEXT_COMMAND);
        while (this.#at - from < 24 && /[\s{~]/.test(this.#text[this.#at] ?? 'x')) this.#at += 1;
      }
      const isAttached = this.#at === from;
      const word = isUnspaced(this.#text[this.#at] ?? '')
        ? unspacedMultiplier(this.#text, this.#at)
        : (peek(WORD, this.#text, this.#at) ?? '');
      const exponent = MULTIPLIERS.get(word.toLowerCase());
      const isKnown = exponent !== undefined && (!isAttached || word.length > 3 || isUnspaced(word));
      if (!isKnown) {
        this.#at = from;
        break;
      }
      this.#at += word.length;
      value = value === null ? null : times(value, powerOfTen(exponent));
    }
    return value;
  }

  /** What stands before the number: a sign, a currency, or what the number is part of. */
  #before(limit: number): {
    readonly start: number;
    readonly isNegative: boolean;
    readonly isFree: boolean;
    readonly isInName: boolean;
  } {
    const text = this.#text;
    let start = this.#start;
    const skipCurrency = (): void => {
      while (
        start > limit &&
        (CURRENCIES.includes(text[start - 1] ?? ' ') || (text[start - 1] === '\\' && text[start] === '$'))
      )
        start -= 1;
    };
    skipCurrency();
    let isNegative = false;
    const sign = text[start - 1] ?? '';
    const beforeSign = text[start - 2] ?? '';
    if (start > limit && sign !== '' && (DASHES.includes(sign) || sign === '+')) {
      const isLongDash = sign === '—';
      if (/[\p{L}\p{N})\]}]/u.test(beforeSign) && !isUnspaced(beforeSign) && !isLongDash) {
        const isInName = /\p{L}/u.test(beforeSign);
        return { start, isNegative: false, isFree: false, isInName };
      }
      if (!isLongDash) {
        isNegative = sign !== '+';
        start -= 1;
        skipCurrency();
      }
    }
    const previous = text[start - 1] ?? '';
    const isLetter = /[\p{L}\p{M}]/u.test(previous) && !isUnspaced(previous);
    const isCode =
      isLetter &&
      /(?:^|[^\p{L}])(?:us|rs|usd|eur|gbp|inr|hk|a|c|nt|r)$/iu.test(
        text.slice(Math.max(0, start - 4), start),
      ) &&
      start < this.#start;
    const isName = (isLetter && !isCode) || (previous === '#' && text[start - 2] !== '#') || previous === '@';
    const unit = text.slice(Math.max(0, start - 5), start).replace(/\^$/, '');
    const isPower = previous === '^' || SUPERSCRIPT.includes(previous || ' ');
    const isUnitPower = isPower && /\p{L}{2}$|\p{L}\s?\}$|(?<![\p{L}\\])[ms]$/u.test(unit);
    const isAfterBrace =
      previous === '{' &&
      /[\^_]|\\sqrt|\\log|\\ln|\\frac/.test(
        text
          .slice(Math.max(0, start - 6), start - 1)
          .split(/[\s{}]/)
          .at(-1) ?? '',
      );
    const isRoot = /(?:\\sqrt|√|sqrt\(|\\sqrt\[\d\]\{)\s?$/.test(text.slice(Math.max(0, start - 12), start));
    const isTail =
      '/^_:√'.includes(previous || ' ') ||
      (previous === '.' && isDigit(text[start - 2])) ||
      (previous === '-' && start === this.#start);
    const isColon = previous === ':' && !isDigit(text[start - 2]);
    return {
      start,
      isNegative,
      isFree: !(isName || isUnitPower || isAfterBrace || isRoot || (isTail && !isColon)),
      isInName: isName || isUnitPower,
    };
  }

  /** What is joined to the end of the number. It is read with it, as a unit, or the number has no value. */
  #after(): void {
    const text = this.#text;
    const next = text[this.#at] ?? '';
    const following = text[this.#at + 1] ?? '';
    const spaced = /^\s{0,2}/.exec(text.slice(this.#at, this.#at + 2))?.[0].length ?? 0;
    if (isUnspaced(next)) {
      // A counter such as 個, unless a date goes on.
      let end = this.#at;
      while (end - this.#at < 2 && isUnspaced(text[end] ?? '')) end += 1;
      const isDate =
        '年月日時时分点點년월일시분'.includes(next) &&
        isDigit(text[this.#at + 1]?.trim() || (text[this.#at + 2] ?? ''));
      if (isDate || '点點時时시'.includes(next)) this.#isJoined = true;
      return;
    }
    if (/[\p{L}\p{M}]/u.test(next)) {
      const word = peek(WORD, text, this.#at) ?? '';
      if (!UNITS.has(word.toLowerCase()) || /\d/.test(text[this.#at + word.length] ?? ''))
        this.#isJoined = true;
      this.#at += word.length;
      return;
    }
    if (
      next === '^' ||
      next === '_' ||
      SUPERSCRIPT.includes(next || ' ') ||
      (next === '!' && isDigit(following))
    ) {
      this.#isJoined = true;
      this.#at += 1;
      const close = text[this.#at] === '{' ? closingBrace(text, this.#at) : -1;
      if (close > 0) this.#at = Math.min(text.length, close + 1);
      else while (/[\d⁰¹²³⁴⁵⁶⁷⁸⁹\u2212-]/.test(text[this.#at] ?? '')) this.#at += 1;
      return;
    }
    if ((next === '/' || next === ':') && following !== '') {
      const isUnit = next === '/' && /\p{L}{2}/u.test(text.slice(this.#at + 1, this.#at + 3));
      const isMore = next === '/' ? /[\p{L}\d\\({]/u.test(following) : isDigit(following);
      if (isMore && !isUnit) this.#chain();
      return;
    }
    const afterSpace = text[this.#at + spaced] ?? '';
    if (DASHES.includes(afterSpace || 'x')) {
      const far = text[this.#at + spaced + 1] ?? '';
      const isRange =
        spaced === 0
          ? isDigit(far) || (CURRENCIES.includes(far || 'x') && isDigit(text[this.#at + spaced + 2]))
          : '–'.includes(afterSpace) && isDigit(far.trim() || text[this.#at + spaced + 2]);
      if (isRange) this.#chain();
      return;
    }
    if (
      spaced <= 1 &&
      afterSpace === ':' &&
      isDigit(text[this.#at + spaced + 1]?.trim() || text[this.#at + spaced + 2]) &&
      spaced === 1
    )
      this.#chain();
    if (afterSpace === 'π' || afterSpace === '√') this.#isJoined = true;
    if (afterSpace === '\\') {
      const name = /^\\([A-Za-z]{1,24})/.exec(text.slice(this.#at + spaced, this.#at + spaced + 26))?.[1];
      if (name !== undefined && !HARMLESS.has(name)) this.#isJoined = true;
    }
    const word = peek(WORD, text, this.#at + spaced)?.toLowerCase();
    if (spaced > 0 && word !== undefined && ['pi', 'sqrt'].includes(word)) this.#isJoined = true;
    const isTime =
      spaced <= 1 &&
      (['am', 'pm', 'uhr'].includes(word ?? '') ||
        /^[ap]\.m\b/i.test(text.slice(this.#at + spaced, this.#at + spaced + 4)));
    if (isTime) this.#isJoined = true;
  }

  /** Passes over the rest of a date, a time or a range. */
  #chain(): void {
    this.#isJoined = true;
    const from = this.#at;
    while (this.#at - from < 40 && /[\d\s/:.–—\u2212$-]/.test(this.#text[this.#at] ?? 'x')) this.#at += 1;
    while (this.#at > from + 1 && /[\s.]/.test(this.#text[this.#at - 1] ?? '')) this.#at -= 1;
  }
}

const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9' && character.length === 1;

function peek(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Three digits in each group, or two and at last three as in India; the first has fewer or as many. */
function areGroups(groups: readonly string[]): boolean {
  const [first = '', ...rest] = groups;
  const last = rest.pop() ?? '';
  if (last.length !== 3 || first === '' || first.length > 3 || first.startsWith('0')) return false;
  return (
    rest.every(({ length }) => length === 3) || (first.length < 3 && rest.every(({ length }) => length === 2))
  );
}

function unspacedMultiplier(text: string, at: number): string {
  const two = text.slice(at, at + 2);
  return MULTIPLIERS.has(two) ? two : (text[at] ?? '');
}

/** Index of the brace that closes the one at `open`, at most 400 characters away; else where the search ended. */
function closingBrace(text: string, open: number): number {
  let depth = 0;
  const limit = Math.min(text.length, open + 400);
  for (let at = open; at < limit; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return limit;
}

/** A number that is a whole text, with a sign. */
function simpleNumber(text: string, decimal: DecimalSign): Rational | null {
  const trimmed = text.trim();
  const [only, ...others] =
    trimmed.length > 100 || trimmed.includes('\\') ? [] : findQuantities(trimmed, decimal);
  return only !== undefined && others.length === 0 && only.start === 0 && only.end === trimmed.length
    ? only.value
    : null;
}
