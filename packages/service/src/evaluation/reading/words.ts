import { foldCase } from './clean-text.ts';
import { LANGUAGES, type Language, ROLES, type Role } from './languages.ts';

export interface Word {
  readonly start: number;
  readonly end: number;
  /** In lower case; `\n` for the end of a line. */
  readonly text: string;
  readonly isMark: boolean;
  readonly isUnspaced: boolean;
}

const LETTER = /[\p{L}\p{N}\p{M}]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc]/u;
const DIGIT = /[0-9]/;

/** Whether a character belongs to a script in which a label or a number next to it is a word of its own. */
export const isUnspaced = (character: string): boolean => UNSPACED.test(character);

/** The character at an index; both code units of one beyond the basic plane. */
export const characterAt = (text: string, at: number): string => {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
};

/** Endings that belong to the word before the apostrophe: `isn't`, `it's`. */
const ENDINGS = new Set(['t', 's', 'm', 'd', 're', 've', 'll']);

/**
 * Splits a folded text into words, numbers and marks. Scripts without blanks between words are split by the words of
 * the languages, the longest first.
 */
export function splitWords(folded: string): Word[] {
  return [...wordsOf(folded, UNSPACED_WORDS)];
}

function* wordsOf(text: string, known: ReadonlySet<string>): Generator<Word> {
  for (let at = 0; at < text.length; ) {
    const start = at;
    const character = characterAt(text, at);
    if (character === ' ') {
      at += 1;
      continue;
    }
    if (!LETTER.test(character)) {
      at += character.length;
      yield { start, end: at, text: character, isMark: true, isUnspaced: false };
    } else if (isUnspaced(character)) {
      at = unspacedEnd(text, at, known);
      yield { start, end: at, text: text.slice(start, at), isMark: false, isUnspaced: true };
    } else if (DIGIT.test(character)) {
      at = numberEnd(text, at);
      yield { start, end: at, text: text.slice(start, at), isMark: false, isUnspaced: false };
    } else {
      at = wordEnd(text, at);
      yield { start, end: at, text: text.slice(start, at), isMark: false, isUnspaced: false };
    }
  }
}

function unspacedEnd(text: string, at: number, known: ReadonlySet<string>): number {
  for (let length = Math.min(MAX_UNSPACED_CHARS, text.length - at); length > 1; length -= 1) {
    if (known.has(text.slice(at, at + length))) return at + length;
  }
  return at + characterAt(text, at).length;
}

/** A number with its decimals and groups, or one that a word begins with, such as `3rd`. */
function numberEnd(text: string, at: number): number {
  let end = at;
  for (;;) {
    while (DIGIT.test(text[end] ?? '')) end += 1;
    const isJoined = (text[end] === '.' || text[end] === ',') && DIGIT.test(text[end + 1] ?? '');
    if (!isJoined) break;
    end += 1;
  }
  return lettersEnd(text, end);
}

function wordEnd(text: string, at: number): number {
  const end = lettersEnd(text, at);
  if (text[end] !== "'") return end;
  const rest = lettersEnd(text, end + 1);
  return ENDINGS.has(text.slice(end + 1, rest)) ? rest : end + 1;
}

function lettersEnd(text: string, at: number): number {
  let end = at;
  for (;;) {
    const character = characterAt(text, end);
    if (character === '' || !LETTER.test(character) || isUnspaced(character)) return end;
    end += character.length;
  }
}

/** Every phrase, with all of its roles. */
function phrasesOf(language: Language): [string, Role[]][] {
  const found = new Map<string, Role[]>();
  for (const role of ROLES) {
    for (const phrase of language[role]?.split('|') ?? []) {
      found.set(phrase, [...(found.get(phrase) ?? []), role]);
    }
  }
  const isVerdict = (roles: readonly Role[]): boolean => roles.includes('wrong') || roles.includes('correct');
  return [...found].map(([phrase, roles]) => [
    foldCase(phrase),
    language.isVerbless && isVerdict(roles) ? [...roles, 'verbless'] : roles,
  ]);
}

const MAX_UNSPACED_CHARS = 12;

/** The words of scripts without blanks, except phrases with blanks. */
const UNSPACED_WORDS: ReadonlySet<string> = new Set(
  LANGUAGES.flatMap((language) => phrasesOf(language).map(([phrase]) => phrase)).filter(
    (phrase) => isUnspaced(characterAt(phrase, 0)) && !phrase.includes(' '),
  ),
);

const PHRASES = phrasesByWord();

function phrasesByWord() {
  const phrases = new Map<string, { words: string[]; roles: Role[]; language: Language }[]>();
  for (const language of LANGUAGES) {
    for (const [phrase, roles] of phrasesOf(language)) {
      const words = [...wordsOf(phrase, UNSPACED_WORDS)].map(({ text }) => text);
      const first = words[0] ?? '';
      phrases.set(first, [...(phrases.get(first) ?? []), { words, roles, language }]);
    }
  }
  return phrases;
}

/** The roles of the words at a place: for each role, the index after its longest phrase. */
export type Roles = ReadonlyMap<Role, number>;

const NONE: Roles = new Map();

export const hasAny = (roles: Roles, ...wanted: readonly Role[]): boolean =>
  wanted.some((role) => roles.has(role));

/** The index after the phrase with the first of some roles that words have; undefined if they have none. */
export function endOf(roles: Roles, ...wanted: readonly Role[]): number | undefined {
  const role = wanted.find((one) => roles.has(one));
  return role === undefined ? undefined : roles.get(role);
}

export type Grammar = ReturnType<typeof grammarOf>;

/**
 * What the words of a text do in it: by the grammar of English, of the languages in other scripts, and of the one in Latin
 * script that has most of its words.
 */
export function grammarOf(words: readonly { readonly text: string }[]) {
  const { counting, main } = languagesOf(words);
  const languages = new Set(counting);
  const letters = new Set(main.flatMap((one) => one.letters?.split('|') ?? []));
  const suffixes = new Set([...languages].flatMap((one) => one.suffixes?.split('|') ?? []));
  const counts = (role: Role, language: Language): boolean => role === 'answer' || languages.has(language);
  return {
    rolesAt(index: number): Roles {
      const phrases = PHRASES.get(words[index]?.text ?? '');
      if (phrases === undefined) return NONE;
      const found = new Map<Role, number>();
      let longest = 0;
      for (const phrase of phrases) {
        if (!phrase.words.every((word, offset) => words[index + offset]?.text === word)) continue;
        for (const role of phrase.roles) {
          if (!counts(role, phrase.language) || phrase.words.length < longest) continue;
          // A longer phrase has its own meaning: "no doubt" denies nothing.
          if (phrase.words.length > longest) found.clear();
          longest = phrase.words.length;
          found.set(role, index + longest);
        }
      }
      return found;
    },
    isLetterWord: (letter: string) => letters.has(letter.toLowerCase()),
    isSuffix: (word: string) => suffixes.has(word),
  };
}

/** The languages whose words count in a text, and the languages of the text itself. */
function languagesOf(words: readonly { readonly text: string }[]): {
  readonly counting: readonly Language[];
  readonly main: readonly Language[];
} {
  const counts = new Map<Language, number>();
  for (const { text } of words) {
    if (text.length < 2 && !/[à-ÿ]/.test(text)) continue;
    const seen = new Set<Language>();
    for (const { language, words: phrase } of PHRASES.get(text) ?? []) {
      if (phrase.length === 1) seen.add(language);
    }
    for (const language of seen) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const mostOf = (languages: readonly Language[]): number =>
    Math.max(0, ...languages.map((one) => counts.get(one) ?? 0));
  const most = mostOf(LANGUAGES);
  const mostLatin = mostOf(LANGUAGES.filter(({ isLatin }) => isLatin));
  const isMost = (one: Language, count: number): boolean => count > 0 && counts.get(one) === count;
  return {
    counting: LANGUAGES.filter((one) => !one.isLatin || one.isAlways || isMost(one, mostLatin)),
    main: LANGUAGES.filter((one) => (most === 0 ? one.isAlways : isMost(one, most))),
  };
}
