/** Longer formulas stay text. */
const MAX_FORMULA = 2_000;

/** What begins code or a formula, and escapes, which begin neither. */
const TOKEN = /`+|~{3,}|\$+|\\[\s\S]/g;

/**
 * Markdown in which `$` marks formulas and nothing else. A pair of dollars is a formula where the text inside touches
 * both, and no digit follows (the rule of Pandoc's `tex_math_dollars`); other dollars, such as those of prices, are
 * escaped. `\(...\)` and `\[...\]` become dollars. Code stays as it is.
 *
 * @example
 * markMath('It costs $5 or $6, so \\(x = 1\\).'); // 'It costs \\$5 or \\$6, so $x = 1$.'
 */
export function markMath(markdown: string): string {
  let marked = '';
  let end = 0;
  for (const { 0: token, index } of markdown.matchAll(TOKEN)) {
    if (index < end) continue;
    const [text, length] = token.startsWith('$')
      ? dollars(markdown, index, token)
      : token.startsWith('\\')
        ? escaped(markdown, index, token)
        : code(markdown, index, token);
    marked += markdown.slice(end, index) + text;
    end = index + length;
  }
  return marked + markdown.slice(end);
}

/** What replaces a part of the text, and the length of that part. */
type Replaced = readonly [text: string, length: number];

function dollars(markdown: string, index: number, token: string): Replaced {
  const inside = formulaAfter(markdown, index + token.length, token);
  if (token.length > 2 || inside === undefined) return ['\\$'.repeat(token.length), token.length];
  const whole = token + inside + token;
  const isPrice =
    /^\s|\s$/.test(inside) || /^\d/.test(markdown.slice(index + whole.length, index + whole.length + 1));
  return token.length === 1 && isPrice ? ['\\$', 1] : [whole, whole.length];
}

function escaped(markdown: string, index: number, token: string): Replaced {
  const isBlock = token === '\\[';
  const inside =
    isBlock || token === '\\(' ? formulaAfter(markdown, index + 2, isBlock ? '\\]' : '\\)') : undefined;
  if (inside === undefined || inside.includes('$')) return [token, token.length];
  const tex = inside.trim();
  return [isBlock ? `\n\n$$\n${tex}\n$$\n\n` : `$${tex}$`, inside.length + 4];
}

function code(markdown: string, index: number, token: string): Replaced {
  const rest = markdown.slice(index + token.length);
  // a longer or a shorter run does not end it
  const close = rest
    .matchAll(token.startsWith('`') ? /`+/g : /~+/g)
    .find(([run]) => run.length === token.length);
  const length = close === undefined ? token.length : 2 * token.length + close.index;
  return [markdown.slice(index, index + length), length];
}

/** The text up to `close`, in the same paragraph; undefined if there is none. */
function formulaAfter(markdown: string, start: number, close: string): string | undefined {
  const ahead = markdown.slice(start, start + MAX_FORMULA);
  const end = ahead.indexOf(close);
  const inside = ahead.slice(0, end);
  return end <= 0 || inside.trim() === '' || /\n\s*\n/.test(inside) ? undefined : inside;
}
