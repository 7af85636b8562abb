/** Longer texts take too long to parse. */
const MAX_CHARACTERS = 20_000;

/** Lines that each begin a heading or a list take the longest for their length. */
const MAX_LINES = 2_000;

/** Marks of emphasis that are searched for their partners, which takes time that grows with their square. */
const MAX_EMPHASIS_MARKS = 3_000;

/** Lists inside each other: the parser calls itself for each. */
const MAX_DEPTH = 50;

/** Marks of lists at the start of a line. */
const CONTAINER = /[ \t]*(?:[-+*]|\d{1,9}[.)])(?=\s|$)/y;

/** What may be a fence, a heading, an entry of a list, a table, emphasis, a link or a formula: only a parser can tell. */
const MARKS =
  /^[ \t]*(?:```|~~~|#{1,6}[ \t]|(?:[-+*]|\d{1,9}[.)])[ \t])|\|[ \t]*:?-|-:?[ \t]*\||\*\*\S|\]\(|\$|\\[([]/m;

/** Whether a text may be Markdown. */
export const hasMarks = (text: string): boolean => MARKS.test(text);

/** Whether a text is short enough to be parsed without blocking the page. */
export function canRender(text: string): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  const lines = text.split(/\r\n|\r|\n/);
  return (
    lines.length <= MAX_LINES &&
    (text.match(/[*_~]/g)?.length ?? 0) <= MAX_EMPHASIS_MARKS &&
    lines.every((line) => containersOf(line) <= MAX_DEPTH)
  );
}

function containersOf(line: string): number {
  CONTAINER.lastIndex = 0;
  let depth = 0;
  while (depth <= MAX_DEPTH && CONTAINER.test(line)) depth += 1;
  return depth;
}
