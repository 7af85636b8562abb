import { wordsOf } from '@svc/jsonl-v23/internal';
import { TableError } from '../errors.ts';

const LF = 10;
const CR = 13;
const FIELD_START = 0;
const PLAIN = 1;
const QUOTED = 2;
const QUOTE_ENDED = 3;

/** How the bytes of a CSV file are set apart. */
export interface ByteDialect {
  /** One ASCII character. */
  readonly delimiter: number;
  /** One ASCII character; -1 if quotes are ordinary characters. */
  readonly quote: number;
}

const MIN_BUFFER_BYTES = 64 * 1024;
/** More columns than any table should have. */
const MAX_FIELDS = 50_000;

/**
 * Splits UTF-8 CSV into records (RFC 4180) without making strings: a record is a list of ranges of one buffer. Lines end
 * with LF, CRLF or CR, blank lines are skipped, and a quote within a field that does not begin with one is an ordinary
 * character. Unlike the reader that imitates pandas, it refuses text after a closing quote. Memory holds one record and
 * one chunk.
 *
 * @throws TableError `invalid_row` with file, line and column
 */
export class CsvScanner {
  /** The current chunk, and the start of the record that it continues. */
  bytes: Uint8Array = new Uint8Array(MIN_BUFFER_BYTES);
  /** The same bytes. */
  words: DataView = wordsOf(this.bytes);
  /** Fields of the current record. */
  fieldCount = 0;
  /** Where each field begins and ends in `bytes`, without its quotes. */
  starts: Int32Array = new Int32Array(64);
  ends: Int32Array = new Int32Array(64);
  /** 1 for a field that has doubled quotes. */
  escaped: Uint8Array = new Uint8Array(64);
  /** Bytes that came so far. */
  readBytes = 0;
  /** 1-based line on which the current record begins. */
  line = 1;

  readonly #file: string;
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #maxRowBytes: number;
  #length = 0;
  #at = 0;
  #state = FIELD_START;
  /** Where the current record, and its line and its field, begin. */
  #recordStart = 0;
  #fieldStart = 0;
  #hasEscape = false;
  /** Line ends within quoted fields of the current record. */
  #innerLines = 0;
  #nextLine = 1;
  #isDone = true;
  #isEnded = false;

  constructor({ delimiter, quote }: ByteDialect, file: string, maxRowBytes: number) {
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#file = file;
    this.#maxRowBytes = maxRowBytes;
  }

  /** Takes the next bytes; the ranges of the record before are no longer valid. */
  add(chunk: Uint8Array): void {
    this.readBytes += chunk.length;
    const kept = this.#isDone ? this.#at : this.#recordStart;
    this.bytes.copyWithin(0, kept, this.#length);
    this.#length -= kept;
    this.#at -= kept;
    this.#fieldStart -= kept;
    this.#recordStart = 0;
    for (let index = 0; index < this.fieldCount; index += 1) {
      this.starts[index] = (this.starts[index] as number) - kept;
      this.ends[index] = (this.ends[index] as number) - kept;
    }
    if (this.#length > this.#maxRowBytes) {
      throw this.error(`The row is longer than ${this.#maxRowBytes} bytes.`, 0, this.line);
    }
    const needed = this.#length + chunk.length;
    // One more, for the sentinel.
    if (needed >= this.bytes.length) {
      const larger = new Uint8Array(Math.max(needed + 1, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.#length));
      this.bytes = larger;
      this.words = wordsOf(larger);
    }
    this.bytes.set(chunk, this.#length);
    this.#length = needed;
    // Ends every search for a quote.
    if (this.#quote !== -1) this.bytes[needed] = this.#quote;
  }

  /** Says that no more bytes come. */
  end(): void {
    this.#isEnded = true;
  }

  /** Goes to the next record; false if it needs more bytes, or there is none. */
  next(): boolean {
    if (this.#isDone) this.#startRecord();
    const { bytes, words } = this;
    const length = this.#length;
    const delimiter = this.#delimiter;
    const quote = this.#quote;
    let at = this.#at;
    let state = this.#state;
    let innerLines = this.#innerLines;
    while (at < length) {
      if (state === QUOTED) {
        at = skipWords(words, at, length, quote);
        // The sentinel ends the search. A line end counts where it begins: LF alone, CRLF and CR.
        for (let code = bytes[at] as number; code !== quote; code = bytes[at] as number) {
          at += 1;
          if (code !== CR && code !== LF) continue;
          if (code === CR || bytes[at - 2] !== CR) innerLines += 1;
          at = skipWords(words, at, length, quote);
        }
        if (at >= length) {
          at = length;
          break;
        }
        at += 1;
        state = QUOTE_ENDED;
        continue;
      }
      if (state === PLAIN) {
        at = skipWords(words, at, length, delimiter);
        for (; at < length; at += 1) {
          const code = bytes[at] as number;
          if (code === delimiter || code === LF || code === CR) break;
        }
        if (at === length) break;
      }
      const code = bytes[at] as number;
      if (code === delimiter) {
        this.#endField(at, state);
        at += 1;
        this.#fieldStart = at;
        state = FIELD_START;
      } else if (code === LF || code === CR) {
        // Only the next byte tells whether this is half of a line end.
        if (code === CR && at + 1 === length && !this.#isEnded) break;
        const next = code === CR && bytes[at + 1] === LF && at + 1 < length ? at + 2 : at + 1;
        this.#endField(at, state);
        this.#innerLines = innerLines;
        if (this.#endRecord(next)) return true;
        at = next;
        state = FIELD_START;
        innerLines = 0;
      } else if (state === QUOTE_ENDED) {
        if (code !== quote) throw this.#textAfterQuote(at);
        this.#hasEscape = true;
        at += 1;
        state = QUOTED;
      } else if (code === quote && state === FIELD_START) {
        at += 1;
        state = QUOTED;
      } else {
        state = PLAIN;
      }
    }
    this.#at = at;
    this.#state = state;
    this.#innerLines = innerLines;
    return this.#isEnded && this.#finish();
  }

  /** The error for a byte of the current record. */
  error(message: string, at: number, line?: number): TableError {
    const before = this.bytes.subarray(this.#recordStart, Math.max(at, this.#recordStart));
    const lineStart = before.lastIndexOf(LF) + 1;
    // A cut sequence at the end counts as one character.
    const column =
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(before.subarray(lineStart)).length + 1;
    const location = { file: this.#file, line: line ?? this.line + countLineFeeds(before), column };
    return new TableError('invalid_row', message, { location });
  }

  #startRecord(): void {
    this.#isDone = false;
    this.fieldCount = 0;
    this.#innerLines = 0;
    this.#recordStart = this.#at;
    this.#fieldStart = this.#at;
    this.#state = FIELD_START;
    this.line = this.#nextLine;
  }

  #endField(end: number, state: number): void {
    const index = this.fieldCount;
    if (index === this.starts.length) this.#growFields();
    const isQuoted = state === QUOTE_ENDED;
    this.starts[index] = isQuoted ? this.#fieldStart + 1 : this.#fieldStart;
    this.ends[index] = isQuoted ? end - 1 : end;
    this.escaped[index] = this.#hasEscape ? 1 : 0;
    this.#hasEscape = false;
    this.fieldCount = index + 1;
  }

  #growFields(): void {
    const size = 2 * this.starts.length;
    if (size > 2 * MAX_FIELDS) {
      throw new TableError(
        'unsupported_file',
        `Cannot read the file: it has more than ${MAX_FIELDS} columns.`,
        {
          location: { file: this.#file, line: this.line },
        },
      );
    }
    const [starts, ends, escaped] = [new Int32Array(size), new Int32Array(size), new Uint8Array(size)];
    starts.set(this.starts);
    ends.set(this.ends);
    escaped.set(this.escaped);
    this.starts = starts;
    this.ends = ends;
    this.escaped = escaped;
  }

  /** Ends the record; false if it was a blank line. */
  #endRecord(next: number): boolean {
    const start = this.#recordStart;
    this.#nextLine = this.line + 1 + this.#innerLines;
    this.#at = next;
    const isBlank = this.fieldCount === 1 && this.ends[0] === this.starts[0] && this.starts[0] === start;
    if (isBlank) {
      this.#startRecord();
      return false;
    }
    this.#isDone = true;
    return true;
  }

  /** The record that the end of the file ends. */
  #finish(): boolean {
    if (this.#at < this.#length) return false;
    if (this.#state === QUOTED) {
      const open = this.#fieldStart;
      throw this.error('A quoted field has no closing quote.', open);
    }
    if (this.#recordStart === this.#length) return false;
    this.#endField(this.#length, this.#state);
    this.#isDone = true;
    this.#at = this.#length;
    return true;
  }

  #textAfterQuote(at: number): TableError {
    return this.error('A quoted field must end with its closing quote.', at);
  }
}

/** A byte, in each byte of a word. */
const ONES = 0x01010101;
const LFS = LF * ONES;
const CRS = CR * ONES;
const HIGHEST_BITS = 0x80 * ONES;

/**
 * Passes over words of four bytes in which there is neither a line end nor another byte: looking at the bytes of a word at
 * once takes half of the time of looking at each. Only a byte that is zero leaves its highest bit in `(x - 1) & ~x`, or one
 * above it.
 */
function skipWords(words: DataView, from: number, end: number, byte: number): number {
  const others = byte * ONES;
  let at = from;
  for (; at <= end - 4; at += 4) {
    const word = words.getInt32(at, true);
    const lf = word ^ LFS;
    const cr = word ^ CRS;
    const other = word ^ others;
    if (((((lf - ONES) & ~lf) | ((cr - ONES) & ~cr) | ((other - ONES) & ~other)) & HIGHEST_BITS) !== 0) break;
  }
  return at;
}

function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}
