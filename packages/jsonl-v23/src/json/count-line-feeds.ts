/** The line feeds of a text, or of its UTF-8 bytes. */
export function countLineFeeds(content: string | Uint8Array): number {
  const next = (from: number): number =>
    typeof content === 'string' ? content.indexOf('\n', from) : content.indexOf(LINE_FEED, from);
  let count = 0;
  for (let at = next(0); at !== -1; at = next(at + 1)) count += 1;
  return count;
}

const LINE_FEED = 10;
