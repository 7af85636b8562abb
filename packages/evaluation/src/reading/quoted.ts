const MAX_CHARS = 120;

/** The words in which an answer was found, as an explanation quotes them: one line, and not long. */
export function quoted(words: string): string {
  const line = words
    .slice(0, MAX_CHARS * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS).toWellFormed()}…` : line;
}
