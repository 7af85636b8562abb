/** Makes a text of a given length. */
type TextOfSize = (chars: number) => string;

/** Texts contain this many parts of a pattern; more would take minutes and find nothing new. */
const MAX_PIECES = 10;

/** Escapes of classes, and characters that they match. */
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  s: [' ', '\n'],
  S: ['a'],
  d: ['1'],
  D: ['a'],
  w: ['a', 'A'],
  W: [' '],
  b: [],
  B: [],
  n: ['\n'],
  r: ['\r'],
  t: ['\t'],
  f: ['\f'],
  v: ['\v'],
  0: ['\0'],
};

/**
 * Makes texts that may be slow for a pattern: its literals and characters of its classes, repeated alone and in turns,
 * after a beginning and before an end that does not match.
 */
export function hostileTexts(source: string): TextOfSize[] {
  const pieces = piecesOf(source);
  const texts: TextOfSize[] = [];
  for (const ending of ['', '\u0001']) {
    for (const first of pieces) {
      texts.push(
        (chars) => repeated(first, chars) + ending,
        (chars) => `\u0001${repeated(first, chars)}${ending}`,
      );
      for (const second of pieces) {
        if (second === first) continue;
        texts.push(
          (chars) => repeated(first + second, chars) + ending,
          (chars) => first + repeated(second, chars) + ending,
        );
      }
    }
  }
  return texts;
}

function repeated(part: string, chars: number): string {
  return part.repeat(Math.max(1, Math.floor(chars / part.length)));
}

/** Literals first, because matches begin with them; then characters of the classes. */
function piecesOf(source: string): string[] {
  const literals: string[] = [];
  const characters: string[] = [];
  const singles: string[] = [];
  let literal = '';
  const endLiteral = (): void => {
    if (literal.length > 1) literals.push(literal);
    else if (literal.length === 1) singles.push(literal);
    literal = '';
  };
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at);
    if (char === '\\') {
      const [found, length] = escapeAt(source, at);
      at += length - 1;
      const isLiteral = found.length === 1 && !(source.charAt(at) in CLASSES);
      if (isLiteral) literal += found[0];
      else {
        endLiteral();
        characters.push(...found);
      }
    } else if (char === '[') {
      endLiteral();
      const end = classEnd(source, at);
      characters.push(...classCharacters(source.slice(at + 1, end)));
      at = end;
    } else if (char === '.') {
      endLiteral();
      characters.push('a');
    } else if (char === '{' || char === '(') {
      endLiteral();
      const skipped = /^(?:\{\d*,?\d*\}|\(\?(?:<?[=!:]|<\w+>))/.exec(source.slice(at, at + 40));
      if (skipped !== null) at += skipped[0].length - 1;
    } else if ('^$*+?)|}'.includes(char)) {
      endLiteral();
    } else {
      literal += char;
    }
  }
  endLiteral();
  return [...new Set([...literals.slice(0, 3), ...characters, ...singles, ...literals])].slice(0, MAX_PIECES);
}

function escapeAt(source: string, at: number): [readonly string[], number] {
  const rest = source.slice(at);
  const property = /^\\[pP]\{[^}]*\}/.exec(rest);
  if (property !== null) return [property[0].includes('M') ? ['\u0301'] : ['a'], property[0].length];
  const code = /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]+)\})/i.exec(rest);
  if (code !== null) {
    const hex = code[1] ?? code[2] ?? code[3] ?? '0';
    return [[String.fromCodePoint(Number.parseInt(hex, 16))], code[0].length];
  }
  const name = rest.charAt(1);
  if (/[1-9k]/.test(name)) return [[], 2];
  return [CLASSES[name] ?? [name], 2];
}

function classEnd(source: string, at: number): number {
  let end = at + 1;
  while (end < source.length && source.charAt(end) !== ']') end += source.charAt(end) === '\\' ? 2 : 1;
  return end;
}

/** A few characters of a class; of one that excludes characters, a letter and what it excludes. */
function classCharacters(inside: string): string[] {
  const excludes = inside.startsWith('^');
  const found: string[] = excludes ? ['a'] : [];
  const text = excludes ? inside.slice(1) : inside;
  for (let at = 0; at < text.length && found.length < 5; at++) {
    if (text.charAt(at) === '\\') {
      const [characters, length] = escapeAt(text, at);
      found.push(...characters);
      at += length - 1;
    } else found.push(text.charAt(at));
  }
  return found;
}
