/** Literals that Python writes and JSON does not have. */
const PYTHON_LITERAL = /-?\b(?:NaN|Infinity)\b/g;

/**
 * JSON text in which something else stands for `NaN`, `Infinity` and `-Infinity`, as Python and others write them.
 * Their names inside strings stay. Takes linear time, whatever the text is.
 *
 * @param replacement JSON text
 * @param infinity JSON text in place of `Infinity` and `-Infinity`, if it must differ from `replacement`
 */
export function replacePythonLiterals(
  text: string,
  replacement = 'null',
  infinity: string = replacement,
): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const start = quote === -1 ? text.length : quote;
    pieces.push(
      text
        .slice(at, start)
        .replace(PYTHON_LITERAL, (found) => (found.endsWith('NaN') ? replacement : infinity)),
    );
    at = start === text.length ? start : endOfString(text, start);
    pieces.push(text.slice(start, at));
  }
  return pieces.join('');
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
