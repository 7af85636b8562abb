const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** The bytes of a file with long lines cut, and facts about the file. */
export interface ShortenedLines extends AsyncIterable<Uint8Array> {
  /** 1-based numbers of the lines that were too long, known before the end of such a line is yielded. */
  readonly tooLong: ReadonlySet<number>;
  readonly hasByteOrderMark: boolean;
  /** Whether the last line ends with a line feed; true for an empty file. */
  readonly endsWithLineFeed: boolean;
}

/**
 * Yields the bytes of a file without those of a line beyond `maxLineBytes`, so that one endless line does not hide errors
 * in later lines. Buffers nothing. As for `splitLines`, a byte order mark and the carriage return of a line end do not
 * count; a line that is too long keeps up to 4 bytes more than is allowed.
 */
export function shortenLines(source: AsyncIterable<Uint8Array>, maxLineBytes: number): ShortenedLines {
  const tooLong = new Set<number>();
  const firstBytes: number[] = [];
  let line = 1;
  let lineBytes = 0;
  let lastByte = LINE_FEED;

  const hasByteOrderMark = (): boolean => BYTE_ORDER_MARK.every((byte, index) => firstBytes[index] === byte);

  function endLine(): void {
    const mark = line === 1 && hasByteOrderMark() ? BYTE_ORDER_MARK.length : 0;
    const lineEnd = lastByte === CARRIAGE_RETURN ? 1 : 0;
    if (lineBytes > maxLineBytes + mark + lineEnd) tooLong.add(line);
  }

  async function* shortened(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      if (firstBytes.length < 3) firstBytes.push(...chunk.subarray(0, 3 - firstBytes.length));
      let given = 0;
      for (let start = 0; start < chunk.length; ) {
        const lineFeed = chunk.indexOf(LINE_FEED, start);
        const end = lineFeed === -1 ? chunk.length : lineFeed;
        // Includes a byte order mark and a carriage return, which may not count.
        const room = Math.max(0, maxLineBytes + 1 + (line === 1 ? 3 : 0) - lineBytes);
        if (end - start > room) {
          if (start + room > given) yield chunk.subarray(given, start + room);
          given = end;
        }
        lineBytes += end - start;
        if (end > start) lastByte = chunk[end - 1] as number;
        if (lineFeed === -1) break;
        endLine();
        line += 1;
        lineBytes = 0;
        lastByte = LINE_FEED;
        start = lineFeed + 1;
      }
      if (chunk.length > given) yield chunk.subarray(given);
    }
    endLine();
  }

  return {
    tooLong,
    get hasByteOrderMark() {
      return hasByteOrderMark();
    },
    get endsWithLineFeed() {
      return lastByte === LINE_FEED;
    },
    [Symbol.asyncIterator]: shortened,
  };
}
