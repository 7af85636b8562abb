import type { LabelledChoices } from '@svc/jsonl-v23/mapping';
import { checkerLimit } from '../check-limits.ts';
import { type CleanText, cleanText, foldCase } from './clean-text.ts';
import { occurrences } from './comparable-text.ts';
import { LOOK_ALIKES } from './languages.ts';
import type { Name } from './statement.ts';
import { characterAt, type Grammar, grammarOf, hasAny, isUnspaced, type Word } from './words.ts';

/** No task has more; searching for them would take seconds. */
const MAX_CHOICES = 1_000;
/** A longer label is only found as a whole output. */
const MAX_LABEL_CHARS = 64;

export type ChoiceNames = ReturnType<typeof choiceNames>;

/** @throws RunError `checker_limit` for over 1,000 choices */
export function limitChoices({ choices: { length } }: LabelledChoices): void {
  if (length > MAX_CHOICES) {
    throw checkerLimit(`The item must have at most ${MAX_CHOICES} choices, got ${length}.`);
  }
}

/** @throws RunError `checker_limit` for over 1,000 choices */
export function choiceNames(listed: LabelledChoices) {
  limitChoices(listed);
  const { choices } = listed;
  const bare = choices.map(({ label }) => bareText(cleanText(label).text));
  const isBare = new Set(bare).size === bare.length;
  const sought = choices.map(({ label, text }, index) => {
    const clean = bareEnd(cleanText(text).text.trim());
    return { label: (isBare && bare[index]) || label, text: clean, folded: foldCase(clean) };
  });
  const short = sought.map(({ label }) => (/^(?:\p{L}|[A-Z]{2}|\d{1,4})$/u.test(label) ? label : null));
  const words = sought.map(({ label }, index) => (short[index] === null ? foldCase(label) : null));
  return {
    sought,
    /** Labels of one letter or a number, by their own spelling, and in lower case. */
    labels: firstOf(short),
    anyCase: firstOf(short.map((label) => (label === null ? null : foldCase(label)))),
    /** Other labels, which are searched for like texts. */
    wordLabels: firstOf(words),
    /** By texts in lower case; the first of equal ones. */
    texts: firstOf(sought.map(({ folded }) => folded || null)),
  };
}

/** The index of the first of equal keys. */
export function firstOf(keys: readonly (string | null)[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    if (key !== null && !found.has(key)) found.set(key, index);
  }
  return found;
}

const AROUND = new Set(' \t\r\n*_"\'`()[]{}<>.:!,;$。');

/** A text without blanks and punctuation around it. A loop, since a pattern for its end takes quadratic time. */
export function bareText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && AROUND.has(text[start] ?? '')) start += 1;
  while (end > start && AROUND.has(text[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}

/** A text without the punctuation at its end, unless it is nothing else. */
function bareEnd(text: string): string {
  let end = text.length;
  while (end > 0 && '.!?;:, 。！？'.includes(text[end - 1] ?? '')) end -= 1;
  return end === 0 ? text : text.slice(0, end);
}

/** Where a text names choices by their texts or labels that are words: the longest at each place. */
export function findTexts(clean: CleanText, names: ChoiceNames, weak: ReadonlySet<number>): Name[] {
  const found: Name[] = [];
  const add = (wanted: string, of: number, isLabel: boolean): void => {
    if (wanted === '') return;
    // "No other way" does not say no.
    const isDeterminer = DETERMINERS.has(wanted);
    for (const start of occurrences(clean.folded, wanted)) {
      const end = start + wanted.length;
      if (isDeterminer && /^ [\p{L}\p{N}]/u.test(clean.folded.slice(end, end + 3))) continue;
      if (hasBorders(clean.folded, start, end))
        found.push({ start, end, of, isLabel, isLabelled: isLabel, isOwnCase: true });
    }
  };
  for (const [of, { text, folded }] of names.sought.entries()) {
    const isLetter = text.length < 2 && !/[\d\p{Script=Han}\p{Script=Hangul}]/u.test(text);
    const isMark = !/[\p{L}\p{N}]/u.test(text);
    if (!weak.has(of) && !isLetter && !isMark) add(folded, of, false);
  }
  for (const [label, of] of names.wordLabels) {
    if (label.length <= MAX_LABEL_CHARS && /[\p{L}\p{N}]/u.test(label)) add(label, of, true);
  }
  return longest(found, clean, names);
}

/** Texts of choices that are other words before a word. */
const DETERMINERS = new Set(['no', 'all', 'some', 'any', 'both', 'none', 'neither', 'either', 'each']);

/** Drops names inside of longer ones, and decides between choices that differ only in case. */
function longest(found: Name[], clean: CleanText, { sought }: ChoiceNames): Name[] {
  found.sort((a, b) => a.start - b.start || b.end - a.end || a.of - b.of);
  const kept: Name[] = [];
  for (const name of found) {
    const last = kept.at(-1);
    if (last !== undefined && name.start < last.end) {
      const isSame = name.start === last.start && name.end === last.end;
      const isExact = clean.text.slice(name.start, name.end) === sought[name.of]?.text;
      const wasExact = clean.text.slice(last.start, last.end) === sought[last.of]?.text;
      if (isSame && isExact && !wasExact) kept[kept.length - 1] = name;
      continue;
    }
    kept.push(name);
  }
  return kept;
}

const WORD = /[\p{L}\p{N}]/u;
const DIGIT = /\d/;
const CURRENCY = /[$€£¥₹₩₽]/;

/** Whether no letter or digit continues a text on either side. Scripts without blanks between words need none. */
export function isWholeWord(text: string, start: number, end: number): boolean {
  const isFree = (outside: string, inside: string): boolean =>
    !WORD.test(outside) || isUnspaced(outside) || isUnspaced(inside);
  return (
    isFree(previous(text, start), characterAt(text, start)) &&
    isFree(characterAt(text, end), text[end - 1] ?? '')
  );
}

/** Whether a text stands on its own: no letter, and for a number no sign, decimal or unit, continues it. */
function hasBorders(text: string, start: number, end: number): boolean {
  const [first, last] = [characterAt(text, start), text[end - 1] ?? ''];
  const before = text[start - 1] ?? '';
  const after = characterAt(text, end);
  if (!isWholeWord(text, start, end)) return false;
  if (before === '-' && /\p{L}/u.test(text[start - 2] ?? '') && !isUnspaced(text[start - 2] ?? ''))
    return false;
  if (after === '-' && /\p{L}/u.test(text[end + 1] ?? '') && /\p{L}/u.test(last)) return false;
  if (DIGIT.test(first)) {
    if (CURRENCY.test(before) || '/^_\\√'.includes(before || ' ')) return false;
    if ('.,:'.includes(before || ' ') && DIGIT.test(text[start - 2] ?? '')) return false;
    if ('-+±'.includes(before || ' ') && !(WORD.test(text[start - 2] ?? '') && before === '+')) return false;
    if (before === '.' && !/\w/.test(text[start - 2] ?? '')) return false;
  }
  if (DIGIT.test(last)) {
    if (CURRENCY.test(after) || '%°^/\\_²³'.includes(after || ' ')) return false;
    if ('.,:-'.includes(after || ' ') && DIGIT.test(text[end + 1] ?? '')) return false;
    if (after === ' ' && text[end + 1] === '%') return false;
  } else if (DIGIT.test(first) && '/^²³·'.includes(after || ' ')) return false;
  return true;
}

const previous = (text: string, at: number): string => {
  const code = text.charCodeAt(at - 1);
  const isLow = code >= 0xdc00 && code <= 0xdfff;
  return at === 0 ? '' : text.slice(at - (isLow ? 2 : 1), at);
};

/** Words that cannot follow the article `a`, so that it is a label before them. */
const AFTER_LABEL = ['is', 'was', 'because', 'wrong', 'no'] as const;
const isEnd = (word: Word | undefined): boolean =>
  word === undefined || (word.isMark && !"'".includes(word.text));

/**
 * Where a text names choices by labels of one letter or a number.
 *
 * @param texts what {@link findTexts} found: labels inside of it are none
 */
export function findLabels(
  clean: CleanText,
  words: readonly Word[],
  names: ChoiceNames,
  texts: readonly Name[],
): Name[] {
  const grammar = grammarOf(words);
  const found: Name[] = [];
  let next = 0;
  for (const [index, word] of words.entries()) {
    while (next < texts.length && (texts[next]?.end ?? 0) <= word.start) next += 1;
    const isInText = (texts[next]?.start ?? Number.POSITIVE_INFINITY) < word.end;
    if (word.isMark || isInText || word.end - word.start > 5) continue;
    const label = labelAt(clean, words, index, names, grammar);
    if (label !== null) found.push(label);
  }
  return found;
}

function labelAt(
  clean: CleanText,
  words: readonly Word[],
  index: number,
  names: ChoiceNames,
  grammar: Grammar,
): Name | null {
  const word = words[index] as Word;
  const following = words[index + 1];
  const hasSuffix =
    clean.text[word.end - 1] === "'" &&
    grammar.isSuffix(following?.text ?? '') &&
    following?.start === word.end;
  const end = hasSuffix ? word.end - 1 : word.end;
  const written = clean.text.slice(word.start, end);
  const own = names.labels.get(written);
  const isLookAlike = own === undefined && LOOK_ALIKES.has(written);
  const of = own ?? names.labels.get(LOOK_ALIKES.get(written) ?? '') ?? names.anyCase.get(foldCase(written));
  if (of === undefined || !isFreeLabel(clean.text, word.start, end, names, hasSuffix)) return null;
  const name = {
    start: word.start,
    end: hasSuffix ? (following?.end ?? end) : end,
    of,
    isLabel: true,
    isLabelled: true,
    isOwnCase: own !== undefined,
  };
  if (hasSuffix) return name;
  if (isUnspaced(following === undefined ? '' : characterAt(clean.text, following.start))) {
    return own === undefined && !isEnd(words[index - 1]) && index > 0 ? null : name;
  }
  const { rolesAt } = grammar;
  const endsPhrase =
    isEnd(following) ||
    rolesAt(index + 1).has('because') ||
    (own !== undefined && isJoined(words, index + 1, names, clean, grammar));
  if (own === undefined) {
    const isAfterMark = index === 0 || isEnd(words[index - 1]);
    const isLetter = grammar.isLetterWord(isLookAlike ? foldCase(written) : written);
    return endsPhrase && !isEmbedded(clean.text, word.start) && (isAfterMark || !isLetter || isEnd(following))
      ? name
      : null;
  }
  const isWord = grammar.isLetterWord(written) || DIGIT.test(written);
  if (isSpeaker(words, index, names)) return null;
  if (!isWord || endsPhrase) return name;
  const isSubject = hasAny(rolesAt(index + 1), ...AFTER_LABEL);
  return isSubject && !isPronoun(written, following?.text ?? '') ? name : null;
}

/** A number or letter of a formula, an abbreviation or a compound is no label. */
function isFreeLabel(
  text: string,
  start: number,
  end: number,
  { labels }: ChoiceNames,
  hasSuffix: boolean,
): boolean {
  if (hasSuffix) return true;
  const [before = '', after = ''] = [text[start - 1], text[end]];
  const [farBefore = '', farAfter = ''] = [text[start - 2], text[end + 1]];
  const isPart = (character: string): boolean => /[\p{L}\p{N}]/u.test(character) && !isUnspaced(character);
  const isLone = (at: number, step: number): boolean =>
    isPart(text[at] ?? '') && !isPart(text[at + step] ?? '');
  const isLabel = (at: number, step: number): boolean => isLone(at, step) && labels.has(text[at] ?? '');
  if ('^_\\@=#'.includes(after || ' ') || '^_\\@#'.includes(before || ' ')) return false;
  if (after === '+' || (after === ' ' && '=+^'.includes(farAfter || ' '))) return false;
  if (before === "'" || after === "'") return false;
  if ('/-–&'.includes(before || ' ') && isPart(farBefore) && !isLabel(start - 2, -1)) return false;
  if ('/-–&'.includes(after || ' ') && isPart(farAfter) && !isLabel(end + 1, 1)) return false;
  if (before === '.' && isPart(farBefore)) return false;
  if (after === '.' && isPart(farAfter) && !isPart(text[end + 2] ?? '')) return false;
  if (before === '(' && isLone(start - 2, -1)) return false;
  return DIGIT.test(text[start] ?? '') ? hasBorders(text, start, end) : true;
}

/** Whether a letter stands in brackets that belong to a word, as in `f(a)`. */
const isEmbedded = (text: string, start: number): boolean =>
  text[start - 1] === '(' && /[\p{L}\p{N}]/u.test(text[start - 2] ?? '');

/** "I is" is about the label, "I was" about the speaker. */
const isPronoun = (label: string, next: string): boolean => foldCase(label) === 'i' && next !== 'is';

/** "I, as a model, …" is about the speaker. */
function isSpeaker(words: readonly Word[], index: number, { anyCase }: ChoiceNames): boolean {
  const before = words[index - 1];
  const begins = before === undefined || '.!?;\n'.includes(before.text);
  return (
    words[index]?.text === 'i' &&
    begins &&
    words[index + 1]?.text === ',' &&
    !anyCase.has(words[index + 2]?.text ?? '')
  );
}

/** Whether a list of labels goes on: "A and C". */
function isJoined(
  words: readonly Word[],
  at: number,
  { labels }: ChoiceNames,
  clean: CleanText,
  grammar: Grammar,
): boolean {
  const written = (index: number): string => {
    const word = words[index];
    return word === undefined ? '' : clean.text.slice(word.start, word.end);
  };
  if (labels.has(written(at))) return true;
  return grammar.rolesAt(at).has('join') && labels.has(written(at + 1));
}

/** Labels with their own texts after them as one name: "A) red". */
export function joinNames(texts: readonly Name[], labels: readonly Name[], clean: CleanText): Name[] {
  const all = [...texts, ...labels].sort((a, b) => a.start - b.start);
  const joined: Name[] = [];
  for (const name of all) {
    const last = joined.at(-1);
    const isOwn =
      last?.isLabel === true &&
      !name.isLabel &&
      name.of === last.of &&
      name.start - last.end <= 5 &&
      /^[\s).:\]}>(,—–=-]*$/.test(clean.text.slice(last.end, name.start)) &&
      !clean.text.slice(last.end, name.start).includes('\n');
    if (isOwn) joined[joined.length - 1] = { ...name, start: last.start, isLabelled: true };
    else joined.push(name);
  }
  return joined;
}
