import type { LocatedLine } from '../../packages/evaluation/test/scoring-corpus.ts';
import { fitsLetters, isReasoning, letterTargets, type RuleSet, textOf } from './rule-set.ts';

const OWN_LINE = /^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)/gim;
const ANYWHERE = /ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\p{L}\p{N}_]|$)/giu;

/** Inspect's `multiple_choice` and `choice()`: the last `ANSWER:` that is a whole line, else the last anywhere. */
export const inspectChoice: RuleSet = {
  name: "Inspect's `choice()`",
  form: '`ANSWER:`',
  fits: (line) => (line.language ?? 'en') === 'en' && fitsLetters(line, { most: 26 }),
  hasForm: (line) => /ANSWER\s*:/i.test(textOf(line)),
  passes: (line) => {
    const text = textOf(line);
    const found = [...text.matchAll(OWN_LINE)].at(-1) ?? [...text.matchAll(ANYWHERE)].at(-1);
    const named = lettersOf(found?.[1] ?? '', line);
    return named.size > 0 && [...named].toSorted().join() === letterTargets(line)?.join();
  },
};

function lettersOf(found: string, { choices, answer }: LocatedLine): ReadonlySet<string> {
  const count = Array.isArray(choices) ? choices.length : 0;
  const isLabel = (text: string) =>
    text.length === 1 && text >= 'A' && text < String.fromCharCode(65 + count);
  const text = found.trim().toUpperCase();
  if (!Array.isArray(answer)) return new Set(isLabel(text) ? [text] : []);
  const bare = text.replaceAll(' ', '');
  return new Set([bare.split(','), [...bare]].find((labels) => labels.every(isLabel)));
}

/** Inspect's `match(numeric=True)`: the last word of the output that is a number, at five significant digits. */
export const inspectNumeric: RuleSet = {
  name: "Inspect's `match(numeric)`",
  form: 'a number as the last word',
  fits: (line) =>
    line.checker === 'numeric' &&
    line.options === undefined &&
    !isReasoning(line) &&
    line.expect !== 'no_answer' &&
    numberOf(bared(String(line.answer))) !== null,
  hasForm: (line) => /\d\S*$/.test(textOf(line).trim()),
  passes: (line) => {
    const words = bared(textOf(line)).split(/\s+/).reverse();
    const found = words.map(wordNumber).find((number) => number !== null);
    const target = numberOf(bared(String(line.answer)));
    return found !== undefined && target !== null && found.toPrecision(5) === target.toPrecision(5);
  },
};

/** Without currencies, commas, emphasis, and points that no digit follows. */
const bared = (text: string): string =>
  text
    .trim()
    .replaceAll(/[$,£€*_]/g, '')
    .replaceAll(/\.(?=\D|$)/g, '');

const wordNumber = (word: string): number | null =>
  numberOf(word) ?? numberOf(word.replaceAll(/^[!?:;()[\]{}'"`~<=>@#^&|]+|[!?:;()[\]{}'"`~<=>@#^&|]+$/g, ''));

/** A word as a number: signs, separators of groups, exponents, vulgar fractions. Numerals of Han are left out. */
function numberOf(word: string): number | null {
  const [, signs = '', body = '', power] =
    /^([-+−－]*)([\d.,'’]*(?:e[-+]?\d+)?[¼-¾⅐-⅞]?)([⁰¹²³-⁹]+)?$/iu.exec(word) ?? [];
  const [, whole = '', numerator, denominator] = /^(.*?)(?:(\d)⁄(\d+))?$/u.exec(vulgarApart(body)) ?? [];
  const digits = whole.replaceAll(/[,'’]/g, '');
  if (digits === '' && numerator === undefined) return null;
  const fraction = numerator === undefined ? 0 : Number(numerator) / Number(denominator);
  const base = Number(digits) + fraction;
  const signed = [...signs].filter((sign) => sign !== '+').length % 2 === 1 ? -base : base;
  const value = power === undefined ? signed : signed ** Number(power.normalize('NFKC'));
  return Number.isFinite(value) ? value : null;
}

const vulgarApart = (text: string): string => text.replace(/[¼-¾⅐-⅞]/u, (sign) => sign.normalize('NFKC'));
