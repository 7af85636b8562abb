import { countLineFeeds, grownSize, transferBuffer } from '@svc/jsonl-v23/bytes';
import { TableError, type TableErrorCode } from '../errors.ts';

const LF = 10;
const CR = 13;
const FIELD_START = 0;
const PLAIN = 1;
const QUOTED = 2;
const QUOTE_ENDED = 3;
const COMMENT = 4;
const SPACE = 32;
const TAB = 9;

/** How the fields and records of a CSV file are set apart. A character is one ASCII byte, and -1 if there is none. */
export interface CsvDialect {
  readonly delimiter: number;
  readonly quote: number;
  /** Takes the meaning from the next character. */
  readonly escape: number;
  /** Starts a comment that ends with the line. */
  readonly comment: number;
  /** Whether a doubled quote inside quotes is one quote. */
  readonly doublesQuotes: boolean;
  readonly skipsInitialSpace: boolean;
  readonly skipsBlankLines: boolean;
  /** Whether text after a closing quote continues the field, and a line of blanks is a blank line, as in pandas' C parser. */
  readonly isLenient: boolean;
}

/** The rules of RFC 4180. */
export const STRICT_RULES: Omit<CsvDialect, 'delimiter' | 'quote'> = {
  escape: -1,
  comment: -1,
  doublesQuotes: true,
  skipsInitialSpace: false,
  skipsBlankLines: true,
  isLenient: false,
};

const ENDS_TEXT = 1;
/** A byte that is not part of the text at the start of a field. */
const BEGINS_FIELD = 2;

function effectsOf({
  delimiter,
  quote,
  escape: escapeByte,
  comment,
  skipsInitialSpace,
}: CsvDialect): Uint8Array {
  const effects = new Uint8Array(256);
  // A table has no byte -1.
  for (const byte of [delimiter, LF, CR, escapeByte, comment]) effects[byte] = ENDS_TEXT | BEGINS_FIELD;
  for (const byte of [quote, skipsInitialSpace ? SPACE : -1])
    effects[byte] = (effects[byte] ?? 0) | BEGINS_FIELD;
  return effects;
}

/** The range of a field is its content. */
export const VERBATIM = 0;
/** The range has doubled quotes, and no quotes around the field. */
export const DOUBLED = 1;
/** The range has the quotes around the field, escapes, and text after quotes. */
const RAW = 2;

const MIN_BUFFER_BYTES = 64 * 1024;
/** Ranges that are kept: more than a table may have columns. Further fields of a record are only counted. */
const MAX_RANGES = 64 * 1024;

/**
 * Splits UTF-8 CSV into records without making strings: a record is a list of ranges of one buffer. Lines end with LF, CRLF
 * or CR, and a quote within a field that does not begin with one is an ordinary character. The dialect decides the rest.
 * Memory holds one record and one chunk.
 */
export class CsvScanner {
  /** The current chunk, and the start of the record that it continues. */
  bytes: Uint8Array = new Uint8Array(MIN_BUFFER_BYTES);
  /** A view of `bytes`. */
  words: DataView = wordsOf(this.bytes);
  fieldCount = 0;
  /** Where each field begins and ends in `bytes`, without its quotes unless it is {@link RAW}. */
  starts: Int32Array = new Int32Array(64);
  ends: Int32Array = new Int32Array(64);
  /** {@link VERBATIM}, {@link DOUBLED} or {@link RAW}. */
  escaped: Uint8Array = new Uint8Array(64);
  readBytes = 0;
  /** 1-based line on which the current record begins. */
  line = 1;

  readonly dialect: CsvDialect;
  readonly #effects: Uint8Array;
  readonly #file: string;
  readonly #maxRowBytes: number;
  #length = 0;
  #at = 0;
  #state = FIELD_START;
  #recordStart = 0;
  #fieldStart = 0;
  /** Where a comment ends the last field of the record. */
  #commentStart = 0;
  #wasQuoted = false;
  #escaped = VERBATIM;
  #innerLines = 0;
  #nextLine = 1;
  #isDone = true;
  #isEnded = false;

  constructor(dialect: CsvDialect, file: string, maxRowBytes: number) {
    this.dialect = dialect;
    this.#effects = effectsOf(dialect);
    this.#file = file;
    this.#maxRowBytes = maxRowBytes;
  }

  get byteLength(): number {
    return this.#at - this.#recordStart;
  }

  /** Takes the next bytes; the ranges of the record before are no longer valid. */
  add(chunk: Uint8Array): void {
    this.readBytes += chunk.length;
    const kept = this.#isDone ? this.#at : this.#recordStart;
    this.bytes.copyWithin(0, kept, this.#length);
    this.#length -= kept;
    this.#at -= kept;
    this.#fieldStart -= kept;
    this.#commentStart -= kept;
    this.#recordStart = 0;
    for (let index = Math.min(this.fieldCount, this.starts.length) - 1; index >= 0; index -= 1) {
      this.starts[index] = (this.starts[index] as number) - kept;
      this.ends[index] = (this.ends[index] as number) - kept;
    }
    if (this.#length > this.#maxRowBytes) throw this.#tooLong();
    const needed = this.#length + chunk.length;
    // One more, for the sentinel.
    if (needed >= this.bytes.length) {
      // No record is longer than the limit, behind which the chunk has room.
      const longest = this.#maxRowBytes + chunk.length + 1;
      const outgrown = this.bytes;
      this.bytes = new Uint8Array(Math.max(needed + 1, grownSize(outgrown.length, longest)));
      this.bytes.set(outgrown.subarray(0, this.#length));
      // The garbage collector would let the outgrown buffer take as much again as the row.
      transferBuffer(outgrown.buffer as ArrayBuffer, 0);
      this.words = wordsOf(this.bytes);
    }
    this.bytes.set(chunk, this.#length);
    this.#length = needed;
    // Ends every search for a quote.
    if (this.dialect.quote !== -1) this.bytes[needed] = this.dialect.quote;
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Gives the memory back, which may be as much as a row: the garbage collector would let it wait for the next large one. */
  free(): void {
    transferBuffer(this.bytes.buffer as ArrayBuffer, 0);
    this.bytes = new Uint8Array(0);
  }

  /** Goes to the next record; false if it needs more bytes, or there is none. */
  next(): boolean {
    if (this.#isDone) this.#startRecord();
    const { bytes, words } = this;
    const effects = this.#effects;
    const length = this.#length;
    const {
      delimiter,
      quote,
      escape: escapeByte,
      comment,
      doublesQuotes,
      skipsInitialSpace,
      isLenient,
    } = this.dialect;
    const isPlain = escapeByte === -1 && comment === -1;
    let at = this.#at;
    let state = this.#state;
    let innerLines = this.#innerLines;
    while (at < length) {
      if (state === QUOTED) {
        if (escapeByte === -1) at = skipWords(words, at, length, quote);
        // The sentinel ends the search. A line end counts where it begins: LF alone, CRLF and CR.
        for (let code = bytes[at] as number; code !== quote; code = bytes[at] as number) {
          if (code === escapeByte) break;
          at += 1;
          if (code !== CR && code !== LF) continue;
          if (code === CR || bytes[at - 2] !== CR) innerLines += 1;
          if (escapeByte === -1) at = skipWords(words, at, length, quote);
        }
        if (at < length && bytes[at] === escapeByte) {
          // Only the next byte shows what is escaped.
          if (at + 1 === length && !this.#isEnded) break;
          if (bytes[at + 1] === LF || bytes[at + 1] === CR) innerLines += 1;
          this.#escaped = RAW;
          at = Math.min(at + 2, length);
          continue;
        }
        if (at >= length) {
          at = length;
          break;
        }
        at += 1;
        if (doublesQuotes && at < length && bytes[at] === quote) {
          if (this.#escaped === VERBATIM) this.#escaped = DOUBLED;
          at += 1;
        } else {
          state = QUOTE_ENDED;
        }
        continue;
      }
      if (state === PLAIN) {
        if (isPlain) at = skipWords(words, at, length, delimiter);
        while (at < length && ((effects[bytes[at] as number] as number) & ENDS_TEXT) === 0) at += 1;
        if (at === length) break;
      } else if (state === COMMENT) {
        while (at < length && bytes[at] !== LF && bytes[at] !== CR) at += 1;
        if (at === length) break;
      }
      const code = bytes[at] as number;
      if (state === FIELD_START && ((effects[code] as number) & BEGINS_FIELD) === 0) {
        state = PLAIN;
      } else if (code === SPACE && skipsInitialSpace && state === FIELD_START) {
        at += 1;
        this.#fieldStart = at;
      } else if (code === escapeByte && state !== COMMENT) {
        if (at + 1 === length && !this.#isEnded) break;
        if (bytes[at + 1] === LF || bytes[at + 1] === CR) innerLines += 1;
        this.#escaped = RAW;
        at = Math.min(at + 2, length);
        state = PLAIN;
      } else if (code === comment && state !== COMMENT) {
        this.#commentStart = at;
        this.#wasQuoted = state === QUOTE_ENDED;
        state = COMMENT;
      } else if (code === delimiter) {
        this.#endField(at, state);
        at += 1;
        this.#fieldStart = at;
        state = FIELD_START;
      } else if (code === LF || code === CR) {
        // Only the next byte shows whether this is half of a line end.
        if (code === CR && at + 1 === length && !this.#isEnded) break;
        const next = code === CR && bytes[at + 1] === LF && at + 1 < length ? at + 2 : at + 1;
        this.#endField(at, state);
        this.#innerLines = innerLines;
        if (this.#endRecord(next)) return true;
        at = next;
        state = FIELD_START;
        innerLines = 0;
      } else if (state === QUOTE_ENDED) {
        if (code === quote && doublesQuotes) {
          if (this.#escaped === VERBATIM) this.#escaped = DOUBLED;
          at += 1;
          state = QUOTED;
        } else {
          if (!isLenient) throw this.error('A quoted field must end with its closing quote.', at);
          this.#escaped = RAW;
          state = PLAIN;
        }
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

  error(message: string, at: number, line?: number, code: TableErrorCode = 'invalid_row'): TableError {
    const before = this.bytes.subarray(this.#recordStart, Math.max(at, this.#recordStart));
    const lineStart = before.lastIndexOf(LF) + 1;
    // A cut sequence at the end counts as one character.
    const column =
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(before.subarray(lineStart)).length + 1;
    const location = { file: this.#file, line: line ?? this.line + countLineFeeds(before), column };
    return new TableError(code, message, { location });
  }

  #startRecord(): void {
    this.#isDone = false;
    this.fieldCount = 0;
    this.#innerLines = 0;
    this.#recordStart = this.#at;
    this.#fieldStart = this.#at;
    this.#state = FIELD_START;
    this.#escaped = VERBATIM;
    this.line = this.#nextLine;
  }

  #endField(end: number, state: number): void {
    const index = this.fieldCount;
    this.fieldCount = index + 1;
    if (index === this.starts.length && index < MAX_RANGES) this.#growFields();
    const isComment = state === COMMENT;
    const wasQuoted = isComment ? this.#wasQuoted : state === QUOTE_ENDED;
    const last = isComment ? this.#commentStart : end;
    const isTrimmed = wasQuoted && this.#escaped !== RAW;
    this.starts[index] = isTrimmed ? this.#fieldStart + 1 : this.#fieldStart;
    this.ends[index] = isTrimmed ? last - 1 : last;
    this.escaped[index] = this.#escaped;
    this.#escaped = VERBATIM;
  }

  #growFields(): void {
    const size = 2 * this.starts.length;
    const [starts, ends, escaped] = [new Int32Array(size), new Int32Array(size), new Uint8Array(size)];
    starts.set(this.starts);
    ends.set(this.ends);
    escaped.set(this.escaped);
    this.starts = starts;
    this.ends = ends;
    this.escaped = escaped;
  }

  #endRecord(next: number): boolean {
    if (next - this.#recordStart > this.#maxRowBytes) throw this.#tooLong();
    this.#nextLine = this.line + 1 + this.#innerLines;
    this.#at = next;
    if (this.fieldCount === 1 && this.dialect.skipsBlankLines && this.#isBlank()) {
      this.#startRecord();
      return false;
    }
    this.#isDone = true;
    return true;
  }

  #isBlank(): boolean {
    const { bytes } = this;
    const start = this.starts[0] as number;
    const end = this.ends[0] as number;
    if (this.escaped[0] !== VERBATIM) return false;
    if (start > this.#recordStart && bytes[start - 1] === this.dialect.quote) return false;
    if (!this.dialect.isLenient) return start === end;
    for (let at = start; at < end; at += 1) if (bytes[at] !== SPACE && bytes[at] !== TAB) return false;
    return true;
  }

  #finish(): boolean {
    if (this.#at < this.#length) return false;
    if (this.#state === QUOTED) {
      const open = this.#fieldStart;
      throw this.error('A quoted field has no closing quote.', open);
    }
    if (this.#recordStart === this.#length) return false;
    this.#endField(this.#length, this.#state);
    return this.#endRecord(this.#length);
  }

  #tooLong(): TableError {
    return this.error(`The row is longer than ${this.#maxRowBytes} bytes.`, this.#recordStart, this.line);
  }
}

/** A byte, in each byte of a word. */
const ONES = 0x01010101;
const LFS = LF * ONES;
const CRS = CR * ONES;
const HIGHEST_BITS = 0x80 * ONES;

/**
 * Passes over words of four bytes with neither a line end nor another byte: this takes half of the time of looking at
 * each byte. Only a byte that is zero leaves its highest bit in `(x - 1) & ~x`, or one above it.
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

function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** The delimiter that the first line of a file states, as Excel reads it (`sep=;`); null for any other line. */
export function statedDelimiter(line: string): string | null {
  const [, stated] = /^"?sep=(\\t|[\x01-\x7f])"?$/i.exec(line) ?? [];
  // A letter is more likely the name of a column.
  if (stated === undefined || /^[a-z0-9"]$/i.test(stated)) return null;
  return stated === '\\t' ? '\t' : stated;
}
