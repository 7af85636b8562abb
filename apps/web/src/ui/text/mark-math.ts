/** Longer formulas stay text. */
const MAX_FORMULA = 2_000;

/** A fence may be so far inside lists and quotes. */
const MAX_INDENT = 100;

/** What begins code or a formula, and escapes, which begin neither. */
const TOKEN = /`+|~{3,}|\$+|\\[\s\S]/g;

/**
 * Markdown in which `$` marks formulas and nothing else. A pair of dollars is a formula where the text inside touches
 * both and stays in one line, and no digit follows (the rule of Pandoc's `tex_math_dollars`), nor a letter; other dollars,
 * such as those of prices and shells, are replaced. `\(...\)` and `\[...\]` become dollars with that character inside, and
 * `$$...$$` alone on its line becomes a block. Code stays as it is.
 *
 * @param dollar replaces a dollar that is text: a character for `sureMarkdown`, which makes dollars of it
 * @example
 * markMath('It costs $5 or $6, so \\(x = 1\\).', '¤'); // 'It costs ¤5 or ¤6, so $¤x = 1$.'
 */
export function markMath(markdown: string, dollar: string): string {
  let marked = '';
  let end = 0;
  for (const { 0: token, index } of markdown.matchAll(TOKEN)) {
    if (index < end) continue;
    const [text, length] = token.startsWith('$')
      ? dollars(markdown, index, token, dollar)
      : token.startsWith('\\')
        ? escaped(markdown, index, token, dollar)
        : code(markdown, index, token);
    marked += markdown.slice(end, index) + text;
    end = index + length;
  }
  return marked + markdown.slice(end);
}

type Replaced = readonly [text: string, length: number];

function dollars(markdown: string, index: number, token: string, dollar: string): Replaced {
  const inside = formulaAfter(markdown, index + token.length, token);
  if (token.length > 2 || inside === undefined) return [dollar.repeat(token.length), token.length];
  const whole = token + inside + token;
  const isPrice =
    /^[\s=]|[\s=+*/<>(-]$|[\n\r]|^[\d.][^\\=]* \p{L}{2,}[^\\]*$/u.test(inside) ||
    /[\p{L}\p{N}]$/u.test(markdown.slice(Math.max(0, index - 2), index)) ||
    /^[\p{L}\p{N}]/u.test(markdown.slice(index + whole.length, index + whole.length + 2));
  if (token.length === 1) return isPrice ? [dollar, 1] : [whole, whole.length];
  const indent = ALONE.exec(markdown.slice(Math.max(0, index - MAX_INDENT), index))?.[1];
  const isBlock = indent !== undefined && /^[ \t]*(?:\r?\n|$)/.test(markdown.slice(index + whole.length));
  return [
    isBlock && !inside.includes('\n') ? [token, inside.trim(), token].join(`\n${indent}`) : whole,
    whole.length,
  ];
}

/** What is before a formula that begins its line. */
const ALONE = /(?:^|\n)([ \t]*)$/;

function escaped(markdown: string, index: number, token: string, dollar: string): Replaced {
  if (token === '\\$') return [`\\${dollar}`, 2];
  const isBlock = token === '\\[';
  const inside =
    isBlock || token === '\\(' ? formulaAfter(markdown, index + 2, isBlock ? '\\]' : '\\)') : undefined;
  if (inside === undefined || inside.includes('$')) return [token, token.length];
  const tex = inside.trim();
  return [isBlock ? `\n\n$$\n${dollar}${tex}\n$$\n\n` : `$${dollar}${tex}$`, inside.length + 4];
}

function code(markdown: string, index: number, token: string): Replaced {
  if (isFence(markdown, index, token)) return fenced(markdown, index, token);
  if (token.startsWith('~')) return [token, token.length];
  const rest = markdown.slice(index + token.length);
  // a longer or a shorter run does not end it
  const close = rest.matchAll(/`+/g).find(([run]) => run.length === token.length);
  const length = close === undefined ? token.length : 2 * token.length + close.index;
  return [markdown.slice(index, index + length), length];
}

/** Whether code begins that has separate lines: only marks of lists and quotes are before it. */
function isFence(markdown: string, index: number, token: string): boolean {
  if (token.length < 3) return false;
  const before = markdown.slice(Math.max(markdown.lastIndexOf('\n', index) + 1, index - MAX_INDENT), index);
  const info = markdown.slice(index + token.length).match(/^.*/)?.[0] ?? '';
  return /^(?:[\s>*+-]|\d+[.)])*$/.test(before) && !(token.startsWith('`') && info.includes('`'));
}

/** Code up to a fence that is at least as long, else all that follows. */
function fenced(markdown: string, index: number, token: string): Replaced {
  const start = index + token.length;
  const run = token.startsWith('`') ? /^[ \t>]*(`{3,})[ \t]*\r?$/gm : /^[ \t>]*(~{3,})[ \t]*\r?$/gm;
  const close = markdown
    .slice(start)
    .matchAll(run)
    .find(([, found = '']) => found.length >= token.length);
  const end = close === undefined ? markdown.length : start + close.index + close[0].length;
  return [markdown.slice(index, end), end - index];
}

/** The text up to `close`, in the same paragraph; undefined if there is none. */
function formulaAfter(markdown: string, start: number, close: string): string | undefined {
  const ahead = markdown.slice(start, start + MAX_FORMULA);
  const end = ahead.indexOf(close);
  const inside = ahead.slice(0, end);
  return end <= 0 || inside.trim() === '' || /\n\s*\n/.test(inside) ? undefined : inside;
}
