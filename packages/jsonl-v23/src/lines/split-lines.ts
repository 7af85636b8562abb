import { JsonlError } from '../errors.ts';

/** Longest line unless the caller says otherwise: 64 MiB, room for an item with its images embedded. */
export const DEFAULT_MAX_LINE_BYTES: number = 64 * 1024 * 1024;
/** Bytes of lines in one batch: some hundred usual items, enough to be worth handing to a thread. */
export const DEFAULT_BATCH_BYTES: number = 256 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const TAB = 9;

/** Whole lines of a file. */
export interface LineBatch {
  /** The lines, each ended by a line feed (the file's last one perhaps not), in a buffer that is theirs alone. */
  bytes: Uint8Array;
  /** 1-based number of the first line in the file. */
  firstLine: number;
  lineCount: number;
  /** Lines that are not blank. */
  itemCount: number;
}

/**
 * Cuts a stream of bytes into batches of whole lines. Holds one batch, or one line where that is longer.
 *
 * A byte order mark at the start of the file is left out (RFC 8259 section 8.1 lets a reader do so). Lines end
 * with a line feed; a carriage return before it stays in the batch, where it is JSON white space. A last line
 * without an end counts like any other.
 *
 * `maxLineBytes` (default 64 MiB) bounds a line without its end; `batchBytes` (default 256 KiB) a batch, which
 * only a single longer line exceeds. `signal` ends the work at once and closes the source.
 *
 * Throws JsonlError `line_too_long` with file and line, after the lines before it; the signal's reason; and
 * what the source throws.
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

  #bytes: Uint8Array;
  /** Bytes in the buffer; those up to #scanned have been looked at, those up to #complete are whole lines. */
  #filled = 0;
  #scanned = 0;
  #complete = 0;

  #firstLine = 1;
  #lineCount = 0;
  #itemCount = 0;
  /** Whether the start of the file has been looked at for a byte order mark. */
  #started = false;

  constructor(file: string | undefined, maxLineBytes: number, batchBytes: number) {
    this.#file = file;
    this.#maxLineBytes = maxLineBytes;
    this.#batchBytes = batchBytes;
    this.#bytes = new Uint8Array(batchBytes);
  }

  *add(chunk: Uint8Array): Generator<LineBatch, void, undefined> {
    let taken = 0;
    while (taken < chunk.length) {
      if (this.#filled === this.#bytes.length) {
        if (this.#complete > 0) yield this.#take();
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
      if (this.#isTooLong(this.#filled)) yield* this.#refuse();
    }
  }

  *end(): Generator<LineBatch, void, undefined> {
    yield* this.#scan();
    if (this.#isTooLong(this.#filled)) yield* this.#refuse();
    if (this.#filled > this.#complete) {
      if (this.#lineCount > 0 && this.#filled > this.#batchBytes) yield this.#take();
      this.#finishLine(this.#filled, this.#filled);
    }
    if (this.#lineCount > 0) yield this.#take();
  }

  /** Leaves out a byte order mark. Anywhere else U+FEFF is a character, and an error between JSON values. */
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
      if (this.#isTooLong(lineEnd)) yield* this.#refuse();
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
    this.#lineCount++;
    if (!isBlank(this.#bytes, this.#complete, end)) this.#itemCount++;
    this.#complete = next;
    this.#scanned = next;
  }

  /** Whether the line that runs from #complete to `end` is beyond the limit, a carriage return at its end aside. */
  #isTooLong(end: number): boolean {
    const length = end - this.#complete;
    if (length <= this.#maxLineBytes) return false;
    return length - 1 > this.#maxLineBytes || this.#bytes[end - 1] !== CARRIAGE_RETURN;
  }

  *#refuse(): Generator<LineBatch, void, undefined> {
    const line = this.#firstLine + this.#lineCount;
    if (this.#lineCount > 0) yield this.#take();
    throw new JsonlError('line_too_long', `Line ${line} is longer than ${this.#maxLineBytes} bytes`, {
      ...(this.#file === undefined ? {} : { file: this.#file }),
      line,
    });
  }

  /** The whole lines so far; what follows them begins a buffer of its own, so the receiver may transfer this one. */
  #take(): LineBatch {
    const batch = {
      bytes: this.#bytes.subarray(0, this.#complete),
      firstLine: this.#firstLine,
      lineCount: this.#lineCount,
      itemCount: this.#itemCount,
    };
    const rest = this.#bytes.subarray(this.#complete, this.#filled);
    this.#bytes = new Uint8Array(Math.max(this.#batchBytes, rest.length));
    this.#bytes.set(rest);
    this.#filled = rest.length;
    this.#scanned -= this.#complete;
    this.#complete = 0;
    this.#firstLine += this.#lineCount;
    this.#lineCount = 0;
    this.#itemCount = 0;
    return batch;
  }

  /** Makes room for a line longer than a batch: twice as much, but no more than the longest allowed line needs. */
  #grow(): void {
    const longest = this.#maxLineBytes + 2;
    const size = Math.max(this.#bytes.length + 1, 4, Math.min(this.#bytes.length * 2, longest));
    const grown = new Uint8Array(size);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** A line of spaces and tabs only (and the carriage return of its end) is blank. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index];
    if (byte !== SPACE && byte !== TAB && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}

/** Passes a source on until the signal fires; then closes it without waiting for it, and throws the reason. */
async function* abortable<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let rejectPending: (reason: unknown) => void = () => {};
  const onAbort = (): void => rejectPending(signal.reason);
  signal.addEventListener('abort', onAbort);
  let isOpen = true;
  try {
    for (;;) {
      signal.throwIfAborted();
      const result = await new Promise<IteratorResult<T>>((resolve, reject) => {
        rejectPending = reject;
        iterator.next().then(resolve, (error: unknown) => {
          isOpen = false;
          reject(error);
        });
      });
      if (result.done === true) {
        isOpen = false;
        return;
      }
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    const closing = isOpen ? iterator.return?.() : undefined;
    // A source that is stuck in a read would keep an aborted caller waiting.
    if (signal.aborted) closing?.catch(() => {});
    else await closing;
  }
}
