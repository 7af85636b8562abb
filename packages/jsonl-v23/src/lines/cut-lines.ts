import { type CutOptions, type LineBatch, LineCutter } from './line-cutter.ts';

const LINE_FEED = 10;

/** One line of a file. */
export interface CutLine {
  /** 1-based. */
  readonly line: number;
  /** Without line feed and byte order mark; only the beginning of a line with a `fault`. Valid until the next lines are read. */
  readonly bytes: Uint8Array;
  /** Why the line is refused, such as `is longer than 100 bytes`; null if it is not. */
  readonly fault: string | null;
}

/** The lines of a file, and facts that are known at its end. */
export interface CutLines extends AsyncIterable<readonly CutLine[]> {
  readonly hasByteOrderMark: boolean;
  /** Whether the last line ends with a line feed; true for an empty file. */
  readonly endsWithLineFeed: boolean;
}

/**
 * Cuts a stream of bytes into its lines, by the rules of `splitLines`, but continues after a faulty line.
 *
 * @throws while it is read, the signal's reason and what the source throws
 */
export function cutLines(source: AsyncIterable<Uint8Array>, options: CutOptions = {}): CutLines {
  const cutter = new LineCutter(options);
  return {
    get hasByteOrderMark() {
      return cutter.hasByteOrderMark;
    },
    get endsWithLineFeed() {
      return cutter.endsWithLineFeed;
    },
    async *[Symbol.asyncIterator]() {
      for await (const batch of cutter.batches(source)) yield 'fault' in batch ? [batch] : linesOf(batch);
    },
  };
}

/** The lines of a batch. */
export function linesOf({ bytes, firstLine }: LineBatch): CutLine[] {
  const lines: CutLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(LINE_FEED, start);
    const end = lineFeed === -1 ? bytes.length : lineFeed;
    lines.push({ line: firstLine + lines.length, bytes: bytes.subarray(start, end), fault: null });
    start = end + 1;
  }
  return lines;
}
