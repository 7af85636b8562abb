import { abortable } from './abortable.ts';
import { DEFAULT_MAX_LINE_BYTES } from './split-lines.ts';
import { MAX_LINE_VALUES, ValueCounter } from './value-counter.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];
/** A byte order mark and a carriage return do not count; one byte more shows that a line is too long. */
const EXTRA_BYTES = BYTE_ORDER_MARK.length + 2;

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
 * Cuts a stream of bytes into its lines, by the rules of `splitLines`, but goes on after a line that is too long. Holds one
 * chunk of the source, and one line of at most `maxLineBytes`.
 *
 * @throws while it is read, the signal's reason and what the source throws
 */
export function cutLines(
  source: AsyncIterable<Uint8Array>,
  options: { maxLineBytes?: number; signal?: AbortSignal } = {},
): CutLines {
  const { maxLineBytes = DEFAULT_MAX_LINE_BYTES, signal } = options;
  const unfinished = new UnfinishedLine(maxLineBytes + EXTRA_BYTES);
  let line = 0;
  let hasByteOrderMark = false;
  let endsWithLineFeed = true;

  function cut(whole: Uint8Array, isCut: boolean): CutLine {
    line += 1;
    let bytes = whole;
    if (line === 1 && BYTE_ORDER_MARK.every((byte, index) => whole[index] === byte)) {
      hasByteOrderMark = true;
      bytes = whole.subarray(BYTE_ORDER_MARK.length);
    }
    const counted = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    if (isCut || counted > maxLineBytes) {
      return { line, bytes, fault: `is longer than ${maxLineBytes} bytes` };
    }
    const fault = hasTooManyValues(bytes) ? `has more than ${MAX_LINE_VALUES} values` : null;
    return { line, bytes, fault };
  }

  async function* lines(): AsyncGenerator<readonly CutLine[], void, undefined> {
    for await (const chunk of signal === undefined ? source : abortable(source, signal)) {
      const found: CutLine[] = [];
      let start = 0;
      for (;;) {
        const lineFeed = chunk.indexOf(LINE_FEED, start);
        if (lineFeed === -1) break;
        const rest = chunk.subarray(start, lineFeed);
        const { bytes, isCut } = unfinished.isEmpty ? { bytes: rest, isCut: false } : unfinished.end(rest);
        found.push(cut(bytes, isCut));
        start = lineFeed + 1;
      }
      if (found.length > 0) yield found;
      if (start < chunk.length) unfinished.add(chunk.subarray(start));
    }
    if (unfinished.isEmpty) return;
    endsWithLineFeed = false;
    const { bytes, isCut } = unfinished.end(new Uint8Array(0));
    yield [cut(bytes, isCut)];
  }

  return {
    get hasByteOrderMark() {
      return hasByteOrderMark;
    },
    get endsWithLineFeed() {
      return endsWithLineFeed;
    },
    [Symbol.asyncIterator]: lines,
  };
}

/** Whether a parser would need more values than one line may hold. */
function hasTooManyValues(bytes: Uint8Array): boolean {
  // As many values take more bytes.
  if (bytes.length < MAX_LINE_VALUES) return false;
  const counter = new ValueCounter();
  counter.add(bytes);
  return counter.values > MAX_LINE_VALUES;
}

/** The beginning of a line whose end has not arrived. */
class UnfinishedLine {
  readonly #maxBytes: number;
  #buffer = new Uint8Array(0);
  #length = 0;
  #isCut = false;

  /** @param maxBytes further bytes are dropped */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(bytes: Uint8Array): void {
    const room = this.#maxBytes - this.#length;
    if (bytes.length > room) this.#isCut = true;
    const kept = bytes.subarray(0, room);
    const needed = this.#length + kept.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(needed, this.#buffer.length * 2)));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(kept, this.#length);
    this.#length = needed;
  }

  /** Takes the line with its last bytes. */
  end(bytes: Uint8Array): { bytes: Uint8Array; isCut: boolean } {
    this.add(bytes);
    const line = { bytes: this.#buffer.subarray(0, this.#length), isCut: this.#isCut };
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
    this.#isCut = false;
    return line;
  }
}
