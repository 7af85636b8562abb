/**
 * A line of text as a code span of Markdown (CommonMark 0.31, 6.1), in which no renderer finds HTML, links, images or
 * mentions. Its delimiters are longer than every run of backticks in it. It must not be in a table.
 *
 * @param line from `reportText`
 */
export function codeSpan(line: string): string {
  if (line === '') return '(empty)';
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const delimiter = '`'.repeat(longest + 1);
  const needsBlanks = line.startsWith('`') || line.endsWith('`');
  return needsBlanks ? `${delimiter} ${line} ${delimiter}` : `${delimiter}${line}${delimiter}`;
}
