/** Marks of Markdown in front of a line, and around words. */
const BEFORE = /^[ \t]*(?:#{1,6}|[-*+>]|\d{1,3}\.)[ \t]+/;
const LINK = /!?\[([^\][]{0,200})\]\([^()\s]{0,500}\)/g;
const AROUND = /[*`]{1,3}|__/g;

const SHOWN_CHARS = 300;

/** The first line of a description that may be Markdown, as plain text. */
export function firstLine(text: string): string {
  const line =
    text
      .slice(0, 2 * SHOWN_CHARS)
      .trim()
      .split('\n', 1)[0] ?? '';
  return line.replace(BEFORE, '').replace(LINK, '$1').replace(AROUND, '').slice(0, SHOWN_CHARS);
}
