import { JsonlError } from '../errors.ts';
import { abortable } from './abortable.ts';
import { MAX_LINE_VALUES, ValueCounter } from './value-counter.ts';

/** Longest line by default: 64 MiB, enough for an item with embedded images. */
export const DEFAULT_MAX_LINE_BYTES: number = 64 * 1024 * 1024;
/** Bytes of a batch by default: a few hundred typical items, enough to be worth posting to a thread. */
export const DEFAULT_BATCH_BYTES: number = 256 * 1024;

/** Room at the start of a file. */
const MIN_BUFFER_BYTES = 4096;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const TAB = 9;

/** Whole lines of a file. */
export interface LineBatch {
  /** The lines with their line feeds (the last line of the file may have none), in their own buffer. */
  readonly bytes: Uint8Array;
  /** 1-based number of the first line in the file. */
  readonly firstLine: number;
  readonly lineCount: number;
  /** Lines that are not blank. */
  readonly itemCount: number;
}

/**
 * Cuts a stream of bytes into batches of whole lines. Holds one batch, or one line if that is longer.
 *
 * Drops a byte order mark at the start of the file (RFC 8259 section 8.1). Lines end with a line feed; a carriage return
 * before it stays in the batch, as JSON white space. The last line needs no line feed.
 *
 * `maxLineBytes` (default 64 MiB) limits a line without its end; `batchBytes` (default 256 KiB) limits a batch, which
 * only a single longer line exceeds. `signal` aborts at once and closes the source.
 *
 * @throws JsonlError `line_too_long` with file and line, after the lines before it, for a line with more bytes, or with
 * more than `MAX_LINE_VALUES` JSON values; the signal's reason; what the source throws
 */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  options: { file?: string; maxLineBytes?: number; batchBytes?: number; signal?: AbortSignal } = {},
): AsyncGenerator<LineBatch, void, undefined> {
  const { file, maxLineBytes, batchBytes, signal } = options;
  const lines = new LineBuffer(
    file,
    maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
    batchBytes ?? DEFAULT_BATCH_BYTES,
  );
  for await (const chunk of signal === undefined ? source : abortable(source, signal)) {
    for (const batch of lines.add(chunk)) {
      signal?.throwIfAborted();
      yield batch;
    }
  }
  for (const batch of lines.end()) {
    signal?.throwIfAborted();
    yield batch;
  }
}

/** The batch that is being filled. */
class LineBuffer {
  readonly #file: string | undefined;
  readonly #maxLineBytes: number;
  readonly #batchBytes: number;
  /** A line of at most so many bytes is neither too long nor has it too many values. */
  readonly #shortBytes: number;

  /** As large as a batch once there are so many bytes. */
  #bytes: Uint8Array = new Uint8Array();
  /** Bytes in the buffer; those before #scanned are searched for line feeds, those before #complete are whole lines. */
  #filled = 0;
  #scanned = 0;
  #complete = 0;

  #firstLine = 1;
  #lineCount = 0;
  #itemCount = 0;
  /** Counts the values of the line that starts at #complete, if it is long enough to have too many. */
  #counter: ValueCounter = new ValueCounter();
  /** Whether the start of the file was checked for a byte order mark. */
  #started = false;

  constructor(file: string | undefined, maxLineBytes: number, batchBytes: number) {
    this.#file = file;
    this.#maxLineBytes = maxLineBytes;
    this.#batchBytes = batchBytes;
    this.#shortBytes = Math.min(maxLineBytes, MAX_LINE_VALUES - 1);
  }

  *add(chunk: Uint8Array): Generator<LineBatch, void, undefined> {
    let taken = 0;
    while (taken < chunk.length) {
      if (this.#filled === this.#bytes.length) {
        if (this.#bytes.length < this.#batchBytes) this.#growToBatch(chunk.length - taken);
        else if (this.#complete > 0) yield this.#take();
        else this.#grow();
      }
      const count = Math.min(this.#bytes.length - this.#filled, chunk.length - taken);
      this.#bytes.set(chunk.subarray(taken, taken + count), this.#filled);
      this.#filled += count;
      taken += count;
      if (!this.#started) {
        if (this.#filled < 3) continue;
        this.#start();
      }
      yield* this.#scan();
      yield* this.#check(this.#filled);
    }
  }

  *end(): Generator<LineBatch, void, undefined> {
    yield* this.#scan();
    yield* this.#check(this.#filled);
    if (this.#filled > this.#complete) {
      if (this.#lineCount > 0 && this.#filled > this.#batchBytes) yield this.#take();
      this.#finishLine(this.#filled, this.#filled);
    }
    if (this.#lineCount > 0) yield this.#take(true);
  }

  /** Drops a byte order mark. Anywhere else U+FEFF is a character, and an error between JSON values. */
  #start(): void {
    this.#started = true;
    const [first, second, third] = this.#bytes;
    if (first !== 0xef || second !== 0xbb || third !== 0xbf) return;
    this.#bytes.copyWithin(0, 3, this.#filled);
    this.#filled -= 3;
  }

  *#scan(): Generator<LineBatch, void, undefined> {
    let bytes = this.#bytes.subarray(0, this.#filled);
    for (;;) {
      const lineEnd = bytes.indexOf(LINE_FEED, this.#scanned);
      if (lineEnd === -1) {
        this.#scanned = this.#filled;
        return;
      }
      if (lineEnd - this.#complete > this.#shortBytes) yield* this.#check(lineEnd);
      if (this.#lineCount > 0 && lineEnd >= this.#batchBytes) {
        // The line does not fit into this batch; it is found again at the start of the next one.
        yield this.#take();
        bytes = this.#bytes.subarray(0, this.#filled);
        continue;
      }
      this.#finishLine(lineEnd, lineEnd + 1);
      if (this.#complete >= this.#batchBytes) {
        yield this.#take();
        bytes = this.#bytes.subarray(0, this.#filled);
      }
    }
  }

  #finishLine(end: number, next: number): void {
    this.#lineCount += 1;
    if (!isBlank(this.#bytes, this.#complete, end)) this.#itemCount += 1;
    this.#complete = next;
    this.#scanned = next;
    if (this.#counter.bytes > 0) this.#counter = new ValueCounter();
  }

  /** Refuses the line that runs from #complete to `end`, or further, where it is too long or has too many values. */
  *#check(end: number): Generator<LineBatch, void, undefined> {
    if (this.#isTooLong(end)) yield* this.#refuse(`is longer than ${this.#maxLineBytes} bytes`);
    // As many values take more bytes.
    if (end - this.#complete < MAX_LINE_VALUES) return;
    const counter = this.#counter;
    counter.add(this.#bytes.subarray(this.#complete + counter.bytes, end));
    if (counter.values > MAX_LINE_VALUES) yield* this.#refuse(`has more than ${MAX_LINE_VALUES} values`);
  }

  /** Whether the line from #complete to `end` exceeds the limit, not counting a carriage return at its end. */
  #isTooLong(end: number): boolean {
    const length = end - this.#complete;
    if (length <= this.#maxLineBytes) return false;
    return length - 1 > this.#maxLineBytes || this.#bytes[end - 1] !== CARRIAGE_RETURN;
  }

  *#refuse(fault: string): Generator<LineBatch, void, undefined> {
    const line = this.#firstLine + this.#lineCount;
    if (this.#lineCount > 0) yield this.#take();
    throw new JsonlError('line_too_long', `Line ${line} ${fault}`, {
      ...(this.#file === undefined ? {} : { file: this.#file }),
      line,
    });
  }

  /** Returns the whole lines so far. The rest gets a new buffer, so that the receiver can transfer this one. */
  #take(isLast = false): LineBatch {
    const batch = {
      bytes: this.#bytes.subarray(0, this.#complete),
      firstLine: this.#firstLine,
      lineCount: this.#lineCount,
      itemCount: this.#itemCount,
    };
    const rest = this.#bytes.subarray(this.#complete, this.#filled);
    // Nothing follows the end of a file.
    this.#bytes = isLast ? rest : new Uint8Array(Math.max(this.#batchBytes, rest.length));
    this.#bytes.set(rest);
    this.#filled = rest.length;
    this.#scanned -= this.#complete;
    this.#complete = 0;
    this.#firstLine += this.#lineCount;
    this.#lineCount = 0;
    this.#itemCount = 0;
    return batch;
  }

  /** Makes room for the first bytes of a file, which may be small, or for a whole batch. */
  #growToBatch(byteCount: number): void {
    const isStart = this.#bytes.length === 0;
    const room = isStart ? Math.max(MIN_BUFFER_BYTES, byteCount) : this.#batchBytes;
    const grown = new Uint8Array(Math.min(this.#batchBytes, room));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }

  /** Grows the buffer for a line longer than a batch: to twice its size, at most to that of the longest allowed line. */
  #grow(): void {
    const longest = this.#maxLineBytes + 2;
    const size = Math.max(this.#bytes.length + 1, 4, Math.min(this.#bytes.length * 2, longest));
    const grown = new Uint8Array(size);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Whether a line has only spaces, tabs and carriage returns. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index];
    if (byte !== SPACE && byte !== TAB && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}
