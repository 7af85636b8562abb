/** Lines that are looked at. */
const MAX_LINES = 200;

const INDENTED = /^(?: {2,}|\t)\S/;
const MARKDOWN = /^\s*(?:[-*+>#]|\d+[.)]|```|~~~|\||\$\$)/;
const OPENS = /[:{([,=\\]\s*$/;
const ENDS = /[;{}]\s*$/;

/**
 * Whether a text without fences has the lines of a program: indented below lines that open a block, or ended by marks. With
 * fences it is Markdown, which says something around its code.
 *
 * @param isCode whether it is known to be code, as the answer to an item of type `code`
 */
export function isCodeLike(text: string, isCode: boolean = false): boolean {
  const lines = text
    .slice(0, 20_000)
    .split(/\r\n|\r|\n/, MAX_LINES)
    .filter((line) => line.trim() !== '');
  if (lines.some((line) => /^\s*(?:```|~~~)/.test(line))) return false;
  if (isCode || lines.length < 2) return isCode;
  const opened = lines.filter(
    (line, at) => INDENTED.test(line) && !MARKDOWN.test(line) && OPENS.test(lines[at - 1] ?? ''),
  ).length;
  const ended = lines.filter((line) => ENDS.test(line) && !MARKDOWN.test(line)).length;
  const prose = lines.filter((line) => /^[A-Z][^(){}=;]*[.!?:]$/.test(line)).length;
  return (opened > 0 || ended >= lines.length / 2) && prose < lines.length / 3;
}
