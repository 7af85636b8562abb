import { toNfc } from './comparable-text.ts';

/** A text without its markup, and where its characters stand in the original. */
export interface CleanText {
  readonly source: string;
  readonly text: string;
  /** The text in lower case, character by character. */
  readonly folded: string;
  /** For each code unit of `text`, its index in `source`. */
  readonly at: Uint32Array;
}

/** Commands of LaTeX around a text, which leave with their braces, ... */
const WRAPPERS = new Set(
  'text|textbf|textit|textrm|texttt|textsf|emph|mathrm|mathbf|mathit|mathsf|mathtt|operatorname|bf|rm|bm|boldsymbol|mbox|hbox'.split(
    '|',
  ),
);
/** ... and others with what they mean. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ...(['left', 'right', 'displaystyle', 'large', 'Large', 'bigl', 'bigr', 'big', 'Big'] as const).map(
    (name): [string, string] => [name, ''],
  ),
  ...(['quad', 'qquad', 'hspace', 'space', 'newline'] as const).map((name): [string, string] => [name, ' ']),
  ['times', '×'],
  ['cdot', '·'],
  ['div', '÷'],
  ['pm', '±'],
  ['approx', '='],
  ['rightarrow', '→'],
  ['Rightarrow', '→'],
  ['to', '→'],
  ['implies', '→'],
  ['checkmark', '✓'],
]);
const QUOTES = new Set('"“”„‟«»‹›「」『』〝〞`');
const APOSTROPHES = new Set("'‘’‚‛′´");
const SPACES = new Set(
  '\t\r\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000 ',
);
const UNSEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\ufe0e|\ufe0f/;
const HTML_MARKUP = /<\/?(?:b|i|em|u|p|strong|br|code|span|div)\s?\/?>/iy;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Removes from a text what does not change what it says: emphasis, quotes and bullets of Markdown, LaTeX's `\text{}` and
 * `$`, quotation marks, runs of blanks. Full-width and circled forms become ASCII.
 */
export function cleanText(original: string): CleanText {
  const source = toNfc(original);
  const writer = new Writer(source);
  const braces: boolean[] = [];
  for (let at = 0; at < source.length; ) {
    const character = source[at] ?? '';
    if (character === '\\') at = command(source, at, writer, braces);
    else if (character === '{' || character === '}') {
      if (character === '{') braces.push(false);
      const isDropped = character === '}' && braces.pop() === true;
      if (!isDropped) writer.add(character, at);
      at += 1;
    } else if (character === '<') {
      HTML_MARKUP.lastIndex = at;
      const length = HTML_MARKUP.exec(source)?.[0].length;
      if (length === undefined) writer.add(character, at);
      else writer.blank(at);
      at += length ?? 1;
    } else {
      plain(source, at, writer);
      at += 1;
    }
  }
  return writer.finish();
}

/** Reads a command of LaTeX. @returns the index after it */
function command(source: string, at: number, writer: Writer, braces: boolean[]): number {
  let end = at + 1;
  while (end - at < 32 && /[A-Za-z]/.test(source[end] ?? '')) end += 1;
  const name = source.slice(at + 1, end);
  if (name === '') {
    const next = source[at + 1] ?? '';
    if ('$%#_&{}'.includes(next) && next !== '') writer.add(next, at + 1);
    else if (',;:! '.includes(next)) writer.blank(at);
    else if (!'()[]'.includes(next)) writer.add('\\', at);
    else if (next === '[' || next === ']') writer.blank(at);
    const isPair = next !== '' && '$%#_&{},;:! ()[]'.includes(next);
    return at + (isPair ? 2 : 1);
  }
  if (WRAPPERS.has(name)) {
    while (SPACES.has(source[end] ?? '')) end += 1;
    if (source[end] === '{') {
      braces.push(true);
      end += 1;
    }
    return end;
  }
  const meaning = COMMANDS.get(name);
  if (meaning === '') return end;
  if (meaning === undefined) for (let one = at; one < end; one += 1) writer.add(source[one] ?? '', one);
  else if (meaning === ' ') writer.blank(at);
  else writer.add(meaning, at);
  return end;
}

function plain(source: string, at: number, writer: Writer): void {
  const character = source[at] ?? '';
  const [before = '', after = ''] = [source[at - 1], source[at + 1]];
  if (character === '\n') writer.line(at);
  else if (SPACES.has(character)) writer.blank(at);
  else if (UNSEEN.test(character) || QUOTES.has(character)) return;
  else if (APOSTROPHES.has(character)) {
    if (isWordPart(before) && isWordPart(after)) writer.add("'", at);
  } else if (character === '$') {
    if (isCurrency(source, at)) writer.add(character, at);
  } else if (character === '*' || character === '~') {
    const isSign = isWordPart(before) ? isWordPart(after) : SPACES.has(before) && SPACES.has(after);
    if (isSign && !writer.isAtLineStart) writer.add(character, at);
  } else if (character === '_') {
    if (isWordPart(before) && isWordPart(after)) writer.add(character, at);
  } else if ('#>-+•·–'.includes(character) && writer.isAtLineStart) {
    if (!isBullet(source, at)) writer.add(character, at);
  } else writer.add(asciiOf(character), at);
}

const isWordPart = (character: string): boolean => LETTER_OR_DIGIT.test(character);

/** Whether only marks of Markdown stand between a mark at the beginning of a line and the blank after it. */
function isBullet(source: string, at: number): boolean {
  let end = at;
  while (end - at < 6 && source[end] === source[at]) end += 1;
  return SPACES.has(source[end] ?? ' ') || source[end] === '\n';
}

/** Whether a dollar sign is one, and not a delimiter of mathematics. */
function isCurrency(source: string, at: number): boolean {
  let end = at + 1;
  while (end - at < 32 && /[\d,.{}\s]/.test(source[end] ?? '')) end += 1;
  return (
    /\d/.test(source.slice(at + 1, end)) &&
    /^\s?\d/.test(source.slice(at + 1, at + 3)) &&
    !'$\\^_=+*/<>'.includes(source[end] ?? ' ')
  );
}

function asciiOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (code >= 0x2460 && code <= 0x2468) return String.fromCharCode(code - 0x2460 + 49);
  if (code >= 0x24b6 && code <= 0x24cf) return String.fromCharCode(code - 0x24b6 + 65);
  if (code >= 0x24d0 && code <= 0x24e9) return String.fromCharCode(code - 0x24d0 + 97);
  return CHARACTERS.get(character) ?? character;
}

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['؟', '?'],
  ['؛', ';'],
  ['،', ','],
  ['、', ','],
  ['【', '['],
  ['】', ']'],
  ['〔', '('],
  ['〕', ')'],
  ['\u2212', '-'],
  ['\u2011', '-'],
  ['\u2010', '-'],
  ['…', '.'],
  ['⇒', '→'],
]);

/** Lower case of one code unit. The Turkish i without a dot is one with it, since models write both. */
export function foldCase(text: string): string {
  let folded = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    const lower = character.toLowerCase();
    folded += lower === 'ı' || character === 'İ' ? 'i' : lower.length === 1 ? lower : character;
  }
  return folded;
}

/** Writes a text with at most one blank in a row, and none around line feeds. */
class Writer {
  readonly #source: string;
  readonly #at: Uint32Array;
  readonly #parts: string[] = [];
  #length = 0;
  #blankAt = -1;
  isAtLineStart = true;

  constructor(source: string) {
    this.#source = source;
    this.#at = new Uint32Array(source.length + 1);
  }

  add(character: string, at: number): void {
    if (this.#blankAt >= 0 && !this.isAtLineStart) this.#push(' ', this.#blankAt);
    this.#blankAt = -1;
    this.#push(character, at);
    this.isAtLineStart = false;
  }

  blank(at: number): void {
    if (this.#blankAt < 0) this.#blankAt = at;
  }

  line(at: number): void {
    this.#blankAt = -1;
    if (this.#length > 0) this.#push('\n', at);
    this.isAtLineStart = true;
  }

  finish(): CleanText {
    const text = this.#parts.join('');
    return { source: this.#source, text, folded: foldCase(text), at: this.#at.slice(0, text.length) };
  }

  #push(character: string, at: number): void {
    this.#at[this.#length] = at;
    this.#parts.push(character);
    this.#length += 1;
  }
}
