import type { LabelledChoices } from '@svc/jsonl-v23/mapping';
import { bareText, type ChoiceNames, choiceNames, findLabels, findTexts, joinNames } from './choice-names.ts';
import { type CleanText, cleanText, foldCase } from './clean-text.ts';
import { findConclusions } from './conclusions.ts';
import { LOOK_ALIKES } from './languages.ts';
import { quoted } from './quoted.ts';
import { type Name, type Statement, toStatement } from './statement.ts';
import { endOf, grammarOf, hasAny, splitWords } from './words.ts';

/** Characters of an output, from its end, that are searched for a choice ... */
const MAX_SEARCHED_CHARS = 100_000;
/** ... and fewer if there are many choices. */
const MAX_SEARCH_STEPS = 10_000_000;

export interface ReadChoice {
  /** Indexes of the choices; empty if it picks none, or several where one is asked for. */
  readonly picked: ReadonlySet<number>;
  /** The words that it found, from the output; null without any. */
  readonly words: string | null;
}

const NOTHING: ReadChoice = { picked: new Set(), words: null };

interface Read {
  readonly clean: CleanText;
  readonly names: ChoiceNames;
  readonly statement: Statement;
  readonly weak: ReadonlyMap<string, number>;
  readonly isSeveral: boolean;
}

/** What a rule says: nothing, or choices by the units in which it found them. */
type Rule = (
  read: Read,
) => { readonly of: ReadonlySet<number>; readonly from: number; readonly to: number } | null;

/** The rules, in their order. The first that names a choice decides. */
const RULES: readonly Rule[] = [wholeText, lastConclusion, labelOfLine, textsNamed, labelsAlone];

/**
 * Reads which choice an output picks, as docs/scoring.md describes. A rule that names two different choices ends the
 * search, since a hedge is no answer, unless several are asked for.
 *
 * @throws RunError `checker_limit` for over 1,000 choices
 */
export function readChoice(output: string, listed: LabelledChoices, isSeveral: boolean): ReadChoice {
  const names = choiceNames(listed);
  const maxChars = Math.min(
    MAX_SEARCHED_CHARS,
    Math.ceil(MAX_SEARCH_STEPS / Math.max(1, listed.choices.length)),
  );
  const clean = cleanText(output.slice(-maxChars).toWellFormed());
  const exact = wholeName(clean.text, names);
  if (exact !== undefined) return { picked: new Set([exact]), words: quoted(clean.source) };
  const words = splitWords(clean.folded);
  const weak = weakTexts(names);
  const texts = findTexts(clean, names, new Set(weak.values()));
  const labels = findLabels(clean, words, names, texts);
  const statement = toStatement(words, joinNames(texts, labels, clean), clean.text);
  const read: Read = { clean, names, statement, weak, isSeveral };
  for (const rule of RULES) {
    const found = rule(read);
    if (found === null) continue;
    if (found.of.size > 1 && !isSeveral) return NOTHING;
    return { picked: found.of, words: wordsBetween(read, found.from, found.to) };
  }
  return NOTHING;
}

function wordsBetween({ clean, statement: { units } }: Read, from: number, to: number): string {
  const start = clean.at[units[from]?.start ?? 0] ?? 0;
  const last = (units[to - 1]?.end ?? clean.text.length) - 1;
  return quoted(clean.source, start, (clean.at[last] ?? clean.source.length) + 1);
}

const WEAK = ['filler', 'a', 'is', 'was', 'join', 'because', 'but', 'if', 'that', 'so', 'may'] as const;

/** Texts of choices that are words of every text, such as "is". They pick a choice only where an answer is stated. */
function weakTexts({ sought }: ChoiceNames): ReadonlyMap<string, number> {
  const weak = new Map<string, number>();
  for (const [index, { folded }] of sought.entries()) {
    const [word, ...others] = splitWords(folded);
    if (word === undefined || others.length > 0 || weak.has(folded) || word.isUnspaced) continue;
    const roles = grammarOf([word]).rolesAt(0);
    const isWeak = hasAny(roles, ...WEAK);
    if (isWeak || (roles.has('no') && folded !== 'no')) weak.set(folded, index);
  }
  return weak;
}

/** The choice that a text is, by its label or text, whatever its case and punctuation. */
function wholeName(text: string, names: ChoiceNames): number | undefined {
  const bare = bareText(text);
  const label =
    names.labels.get(bare) ??
    names.labels.get(LOOK_ALIKES.get(bare) ?? '') ??
    names.anyCase.get(foldCase(bare)) ??
    names.wordLabels.get(foldCase(bare));
  if (label !== undefined) return label;
  const whole = text.trim();
  const exact = names.sought.findIndex((one) => one.text === whole || one.text === bare);
  const ways = [names.texts.get(foldCase(whole)), names.texts.get(foldCase(bare))].filter(
    (one) => one !== undefined,
  );
  if (exact >= 0) return exact;
  if (ways.length > 0) return Math.min(...ways);
  const withoutEnd = names.texts.get(foldCase(whole).replace(/[.!?;:,。]$/, ''));
  return withoutEnd;
}

/** 1. The whole text is a label, a choice's text, or both; a list of them where several are asked for. */
function wholeText({
  statement: { units, rolesAt, isDenied },
  names,
  clean,
  isSeveral,
}: Read): ReturnType<Rule> {
  const run = isSeveral ? labelsWithoutGap(bareText(clean.text), names) : null;
  if (run !== null) return { of: run, from: 0, to: units.length };
  const of = new Set<number>();
  for (let index = 0; index < units.length; ) {
    const unit = units[index];
    const isJoin = isSeveral && rolesAt(index).has('join');
    const noun = endOf(rolesAt(index), 'option', 'answer');
    if (unit?.name === null && noun !== undefined && index === 0 && noun < units.length) {
      index = noun;
      continue;
    }
    if (unit === undefined || (unit.name === null && !unit.isMark && !isJoin) || isDenied[index] === 1)
      return null;
    if (unit.name !== null) of.add(unit.name.of);
    else if (!isSeveral && unit.isMark && !'()[]{}<>.,:!'.includes(unit.text)) return null;
    index = isJoin ? (rolesAt(index).get('join') ?? index + 1) : index + 1;
  }
  return of.size === 0 || (of.size > 1 && !isSeveral) ? null : { of, from: 0, to: units.length };
}

/** `AC`: letters without a gap, all of them labels. */
function labelsWithoutGap(text: string, { labels }: ChoiceNames): Set<number> | null {
  if (text.length < 2 || text.length > labels.size) return null;
  const of = [...text].map((letter) => labels.get(letter));
  const found = new Set(of.filter((one) => one !== undefined));
  return found.size === text.length ? found : null;
}

/** 2. The last conclusion; guesses add to it, and several praised choices count together where several are asked for. */
function lastConclusion(read: Read): ReturnType<Rule> {
  const all = findConclusions(read.statement, { takesPlural: read.isSeveral, weak: read.weak });
  const last = all.at(-1);
  if (last === undefined) return gapless(read);
  const of = new Set(last.of);
  for (let at = all.length - 1; at > 0 && all[at]?.isGuess === true; at -= 1) {
    for (const one of all[at - 1]?.of ?? []) of.add(one);
  }
  if (read.isSeveral && last.isPraise) {
    for (const one of all) if (one.isPraise) for (const index of one.of) of.add(index);
  }
  return { of, from: last.start, to: last.end };
}

/** Letters without a gap that are stated as the answer. */
function gapless({ statement: { units, rolesAt }, clean, names, isSeveral }: Read): ReturnType<Rule> {
  if (!isSeveral) return null;
  for (let index = units.length - 1; index > 0; index -= 1) {
    const { start, end, isMark, name } = units[index] as (typeof units)[number];
    if (isMark || name !== null) continue;
    const run = labelsWithoutGap(clean.text.slice(start, end), names);
    const before = units[index - 1];
    const isStated =
      before?.isMark === true
        ? ':={('.includes(before.text)
        : hasAny(rolesAt(index - 1), 'is', 'answer', 'pick', 'option', 'plural');
    if (run !== null && isStated) return { of: run, from: index - 1, to: index + 1 };
  }
  return null;
}

/**
 * 3. The last line begins with a label and names no other one, or the first line is a choice and an explanation follows;
 * and no other line begins with another choice: a list of the choices is no answer.
 */
function labelOfLine({ statement: { units, isDenied }, isSeveral }: Read): ReturnType<Rule> {
  if (isSeveral) return null;
  const lines: { from: number; to: number }[] = [];
  for (let from = 0; from < units.length; ) {
    let to = from;
    while (to < units.length && units[to]?.text !== '\n') to += 1;
    if (to > from) lines.push({ from, to });
    from = to + 1;
  }
  const begins = lines.map((line) => beginningOf(units, line));
  const isList =
    new Set(begins.filter((one) => one?.isEntry && isDenied[one.at] !== 1).map((one) => one?.name.of)).size >
    1;
  const [first, last] = [begins[0], begins.at(-1)];
  if (isList) return null;
  if (last?.isEntry && last.name.isLabelled && isDenied[last.at] !== 1) {
    const others = units
      .slice(last.at + 1, last.to)
      .some(({ name }) => name !== null && name.of !== last.name.of);
    if (!others) return { of: new Set([last.name.of]), from: last.at, to: last.to };
  }
  if (first == null || lines.length < 2 || isDenied[first.at] === 1) return null;
  const isAlone = units
    .slice(first.at, first.to)
    .every(({ name, isMark }) => isMark || name?.of === first.name.of);
  return isAlone ? { of: new Set([first.name.of]), from: first.at, to: first.to } : null;
}

/** The name with which a line begins, and whether the line is an entry of a list: "A) …", or the name alone. */
function beginningOf(
  units: Statement['units'],
  { from, to }: { readonly from: number; readonly to: number },
): { readonly name: Name; readonly isEntry: boolean; readonly at: number; readonly to: number } | null {
  let at = from;
  while (at < to && units[at]?.isMark && '([{<'.includes(units[at]?.text ?? ' ')) at += 1;
  const name = at < to ? units[at]?.name : null;
  if (name == null) return null;
  const after = units[at + 1];
  const isMarked = after === undefined || (after.isMark && '.):]>\n'.includes(after.text));
  return { name, at, to, isEntry: name.isLabelled ? isMarked || !name.isLabel : at + 1 >= to || isMarked };
}

/** 4. Exactly one choice's text stands in the text, and no other label ends a phrase in it. */
function textsNamed(read: Read): ReturnType<Rule> {
  const { units } = read.statement;
  const texts = named(read, (name) => !name.isLabel);
  if (texts === null || read.isSeveral) return texts;
  const stated = named(
    read,
    (name, index) => name.isLabel && name.isOwnCase && units[index + 1]?.isMark !== false,
  );
  return stated !== null && texts.of.size === 1
    ? { ...texts, of: new Set([...texts.of, ...stated.of]) }
    : texts;
}

/** 5. Exactly one label stands alone in the text. */
function labelsAlone(read: Read): ReturnType<Rule> {
  const { units, rolesAt } = read.statement;
  return named(
    read,
    (name, index) =>
      name.isLabel &&
      name.isOwnCase &&
      !(index > 0 && rolesAt(index - 1).has('carrier') && !units[index - 1]?.isMark),
  );
}

/** The choices of the names that fit and are not denied. */
function named(
  { statement: { units, isDenied, isHypothetical } }: Read,
  fits: (name: Name, index: number) => boolean,
): ReturnType<Rule> {
  const of = new Set<number>();
  let at = 0;
  for (const [index, { name }] of units.entries()) {
    if (name === null || isDenied[index] === 1 || isHypothetical[index] === 1 || !fits(name, index)) continue;
    of.add(name.of);
    at = index;
  }
  return of.size === 0 ? null : { of, from: at, to: at + 1 };
}
