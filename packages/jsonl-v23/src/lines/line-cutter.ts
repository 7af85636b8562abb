import { JsonlError } from '../errors.ts';
import { DEFAULT_MAX_LINE_BYTES } from '../item/item-size.ts';
import { grownSize, transferBuffer } from '../json/bytes.ts';
import { MAX_LINE_VALUES, ValueCounter } from '../json/value-counter.ts';
import { lineLocation } from '../source-location.ts';
import { abortable } from '../streams.ts';

/** Bytes of a batch by default: a few hundred typical items, enough to be worth posting to a thread. */
const DEFAULT_BATCH_BYTES: number = 256 * 1024;

/** Room at the start of a file. */
const MIN_BUFFER_BYTES = 4096;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const TAB = 9;

export interface LineBatch {
  /** The lines with their line feeds (the last line of the file may have none), in their own buffer. */
  readonly bytes: Uint8Array;
  /** 1-based number of the first line in the file. */
  readonly firstLine: number;
  readonly lineCount: number;
  /** Lines that are not blank. */
  readonly itemCount: number;
}

export interface CutLine {
  /** 1-based. */
  readonly line: number;
  /** Without line feed and byte order mark; only the beginning of a line with a `fault`. Valid until the next lines are read. */
  readonly bytes: Uint8Array;
  /** Why the line is refused, such as `is longer than 100 bytes`; null if it is not. */
  readonly fault: string | null;
}

export interface CutOptions {
  /** Longest line without its line feed; default 64 MiB. */
  readonly maxLineBytes?: number;
  /** Size of a batch, which only a single longer line exceeds; default 256 KiB. */
  readonly batchBytes?: number;
  /** Aborts immediately and closes the source. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Cuts one stream of bytes into batches of whole lines. Holds one batch, or one line if that is longer.
 *
 * Drops a byte order mark at the start of the file (RFC 8259 section 8.1). Lines end with a line feed; a carriage return
 * before it stays in the batch, as JSON white space. The last line needs no line feed. A line with more than `maxLineBytes`,
 * or more than `MAX_LINE_VALUES` JSON values, is refused as soon as that is known, and its rest is dropped.
 */
export class LineCutter {
  readonly #maxLineBytes: number;
  readonly #batchBytes: number;
  readonly #signal: AbortSignal | undefined;
  /** Lines up to this size need no check. */
  readonly #shortBytes: number;

  /** Grows to the size of a batch when needed. */
  #bytes: Uint8Array = new Uint8Array();
  /** Where the batch starts; bytes before it belong to a refused line. */
  #start = 0;
  /** Bytes in the buffer. Bytes before #scanned are searched for line feeds; bytes before #complete are whole lines. */
  #filled = 0;
  #scanned = 0;
  #complete = 0;

  #firstLine = 1;
  #lineCount = 0;
  #itemCount = 0;
  /** Counts the values of the line that starts at #complete; null as long as it is too short to have too many. */
  #counter: ValueCounter | null = null;
  /** Whether the line that starts at #complete is refused, and its rest to be dropped. */
  #isRefused = false;
  #isStarted = false;

  hasByteOrderMark = false;
  /** Whether the file, as far as it is read, is empty or ends with a line feed. */
  endsWithLineFeed = true;

  constructor({ maxLineBytes, batchBytes, signal }: CutOptions = {}) {
    this.#maxLineBytes = maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
    this.#batchBytes = batchBytes ?? DEFAULT_BATCH_BYTES;
    this.#signal = signal;
    this.#shortBytes = Math.min(this.#maxLineBytes, MAX_LINE_VALUES - 1);
  }

  /** The batches of a source, and the lines that are refused. @throws the signal's reason; what the source throws */
  async *batches(source: AsyncIterable<Uint8Array>): AsyncGenerator<LineBatch | CutLine, void, undefined> {
    const signal = this.#signal;
    for await (const chunk of signal === undefined ? source : abortable(source, signal)) {
      for (const batch of this.#add(chunk)) {
        signal?.throwIfAborted();
        yield batch;
      }
    }
    for (const batch of this.#finish()) {
      signal?.throwIfAborted();
      yield batch;
    }
  }

  /** The lines of a source, a batch at a time. @throws as {@link batches} */
  async *lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CutLine[], void, undefined> {
    for await (const batch of this.batches(source)) yield 'fault' in batch ? [batch] : linesOf(batch);
  }

  *#add(chunk: Uint8Array): Generator<LineBatch | CutLine, void, undefined> {
    if (chunk.length > 0) this.endsWithLineFeed = chunk.at(-1) === LINE_FEED;
    let taken = 0;
    while (taken < chunk.length) {
      if (this.#filled === this.#bytes.length) {
        if (this.#bytes.length < this.#batchBytes) this.#growToBatch(chunk.length - taken);
        else if (this.#lineCount > 0) yield this.#take();
        else if (this.#start > 0) this.#newBuffer(this.#batchBytes);
        else this.#grow();
      }
      const count = Math.min(this.#bytes.length - this.#filled, chunk.length - taken);
      this.#bytes.set(chunk.subarray(taken, taken + count), this.#filled);
      this.#filled += count;
      taken += count;
      if (!this.#isStarted) {
        if (this.#filled < 3) continue;
        this.#dropByteOrderMark();
      }
      yield* this.#scan();
    }
  }

  *#finish(): Generator<LineBatch | CutLine, void, undefined> {
    yield* this.#scan();
    if (this.#filled > this.#complete) {
      if (this.#lineCount > 0 && this.#filled > this.#batchBytes) yield this.#take();
      this.#finishLine(this.#filled, this.#filled);
    }
    // Nothing follows the end of a file.
    if (this.#lineCount > 0) yield this.#take(0);
  }

  /** Anywhere else U+FEFF is a character, and an error between JSON values. */
  #dropByteOrderMark(): void {
    this.#isStarted = true;
    const [first, second, third] = this.#bytes;
    this.hasByteOrderMark = first === 0xef && second === 0xbb && third === 0xbf;
    if (!this.hasByteOrderMark) return;
    this.#bytes.copyWithin(0, 3, this.#filled);
    this.#filled -= 3;
  }

  *#scan(): Generator<LineBatch | CutLine, void, undefined> {
    let bytes = this.#bytes.subarray(0, this.#filled);
    for (;;) {
      const lineFeed = bytes.indexOf(LINE_FEED, this.#scanned);
      const end = lineFeed === -1 ? this.#filled : lineFeed;
      const fault = this.#isRefused ? null : this.#faultOf(end);
      const isTooMuch = lineFeed !== -1 && lineFeed >= this.#batchBytes;
      if (this.#lineCount > 0 && (fault !== null || isTooMuch)) {
        // The line is found again at the start of the next batch.
        yield this.#take();
        bytes = this.#bytes.subarray(0, this.#filled);
        continue;
      }
      if (fault !== null) {
        this.#isRefused = true;
        yield { line: this.#firstLine, bytes: bytes.subarray(this.#complete, end), fault };
      }
      if (this.#isRefused) this.#drop(lineFeed === -1 ? end : lineFeed + 1, lineFeed !== -1);
      else if (lineFeed === -1) this.#scanned = end;
      else this.#finishLine(lineFeed, lineFeed + 1);
      if (lineFeed === -1) return;
      if (this.#lineCount > 0 && this.#complete >= this.#batchBytes) {
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
    this.#counter = null;
  }

  /** Drops the bytes of a refused line before `next`; no batch begins with them. */
  #drop(next: number, isWhole: boolean): void {
    this.#start = next;
    this.#complete = next;
    this.#scanned = next;
    this.#counter = null;
    if (!isWhole) return;
    this.#firstLine += 1;
    this.#isRefused = false;
  }

  /** Why the line that runs from #complete to `end`, or further, is refused: it is too long or has too many values. */
  #faultOf(end: number): string | null {
    const length = end - this.#complete;
    if (length <= this.#shortBytes) return null;
    // A carriage return at its end does not count.
    const isTooLong =
      length > this.#maxLineBytes + 1 ||
      (length > this.#maxLineBytes && this.#bytes[end - 1] !== CARRIAGE_RETURN);
    if (isTooLong) return `is longer than ${this.#maxLineBytes} bytes`;
    // As many values would take more bytes.
    if (length < MAX_LINE_VALUES) return null;
    this.#counter ??= new ValueCounter();
    const counter = this.#counter;
    counter.add(this.#bytes.subarray(this.#complete + counter.bytes, end));
    return counter.values > MAX_LINE_VALUES ? `has more than ${MAX_LINE_VALUES} values` : null;
  }

  #take(bufferBytes: number = this.#batchBytes): LineBatch {
    const batch = {
      bytes: this.#bytes.subarray(this.#start, this.#complete),
      firstLine: this.#firstLine,
      lineCount: this.#lineCount,
      itemCount: this.#itemCount,
    };
    this.#newBuffer(bufferBytes);
    this.#firstLine += this.#lineCount;
    this.#lineCount = 0;
    this.#itemCount = 0;
    return batch;
  }

  /** Moves what follows the whole lines to a new buffer, so that the receiver of the lines can transfer theirs. */
  #newBuffer(size: number): void {
    const rest = this.#bytes.subarray(this.#complete, this.#filled);
    this.#bytes = new Uint8Array(Math.max(size, rest.length));
    this.#bytes.set(rest);
    this.#filled = rest.length;
    this.#scanned -= this.#complete;
    this.#complete = 0;
    this.#start = 0;
  }

  /** Makes room for the first bytes of a file, which may be small, or for a whole batch. */
  #growToBatch(byteCount: number): void {
    const isStart = this.#bytes.length === 0;
    const room = isStart ? Math.max(MIN_BUFFER_BYTES, byteCount) : this.#batchBytes;
    this.#growTo(Math.min(this.#batchBytes, room));
  }

  #grow(): void {
    const outgrown = this.#bytes;
    const { length } = outgrown;
    this.#growTo(Math.max(length + 1, 4, grownSize(length, this.#maxLineBytes + 2)));
    transferBuffer(outgrown.buffer as ArrayBuffer, 0);
  }

  #growTo(size: number): void {
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

/**
 * Cuts a stream of bytes into batches of whole lines, as `LineCutter` does, up to the first faulty line.
 *
 * @throws JsonlError `line_too_long` with file and line, after the lines before it, for a line with more bytes, or with
 * more than `MAX_LINE_VALUES` JSON values; the signal's reason; what the source throws
 */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  options: CutOptions & { readonly file?: string } = {},
): AsyncGenerator<LineBatch, void, undefined> {
  const { file } = options;
  for await (const batch of new LineCutter(options).batches(source)) {
    if (!('fault' in batch)) yield batch;
    else {
      const { line, fault } = batch;
      throw new JsonlError('line_too_long', `Line ${line} ${fault}`, lineLocation(line, file));
    }
  }
}

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
