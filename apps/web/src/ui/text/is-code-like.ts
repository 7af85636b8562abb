/** Lines that are looked at. */
const MAX_LINES = 200;

const INDENTED = /^(?: {2,}|\t)\S/;
const MARKDOWN = /^\s*(?:[-*+>#]|\d+[.)]|```|~~~|\||\$\$)/;
const OPENS = /[:{([,=\\]\s*$/;
const ENDS = /[;{}]\s*$/;

/** Whether a text without fences has the lines of a program: indented below lines that open a block, or ended by marks. */
export function isCodeLike(text: string): boolean {
  const lines = text
    .slice(0, 20_000)
    .split(/\r\n|\r|\n/, MAX_LINES)
    .filter((line) => line.trim() !== '');
  if (lines.length < 2 || lines.some((line) => /^\s*(?:```|~~~)/.test(line))) return false;
  const opened = lines.filter(
    (line, at) => INDENTED.test(line) && !MARKDOWN.test(line) && OPENS.test(lines[at - 1] ?? ''),
  ).length;
  const ended = lines.filter((line) => ENDS.test(line) && !MARKDOWN.test(line)).length;
  const prose = lines.filter((line) => /^[A-Z][^(){}=;]*[.!?:]$/.test(line)).length;
  return (opened > 0 || ended >= lines.length / 2) && prose < lines.length / 3;
}
