import { isUtf8 } from '#native';
import { KIND } from '../item/value-rule.ts';
import { ASCII, BYTE_CLASS, BYTE_CLASSES } from '../json/ascii.ts';
import { NumberWriter } from '../json/canonical-number.ts';
import { copyRange } from './member-ranges.ts';

const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, BACKSLASH, SLASH, LOWER_U } = ASCII;
const { MINUS, POINT, ZERO, NINE, LOWER_A, LOWER_E, LOWER_F } = ASCII;
const { PLAIN, END, ESCAPE } = BYTE_CLASS;
const classes = BYTE_CLASSES;

/** Stands for the kind of a value that the reference path must read. */
export const FALLBACK = 0;
const { string: STRING, integer: INTEGER, number: NUMBER } = KIND;

const INITIAL_BYTES = 1024 * 1024;
/** Room after the last line for its line feed and for reading four bytes at a time. */
const SPARE_BYTES = 16;
/** A buffer that grew larger, for a long line, is not kept. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** Integers up to 1e21 have no exponent in ECMAScript, nor do fractions from 1e-6. */
const MAX_PLAIN_DIGITS = 21;
const MAX_FIRST_DIGIT = 6;
/** Longer literals may be too long. */
const MAX_LITERAL = 1000;

/** 1 for letters after a backslash whose escape is the canonical one (RFC 8785 section 3.2.2.2). */
const CANONICAL_ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * Reads the tokens of JSON lines in UTF-8 and makes them canonical. A token that is canonical as written, as most are,
 * is a range of the line; any other is written after the lines, in the same buffer.
 *
 * The encoder extends this class, for the reason given at `JsonTokenizer`.
 */
export abstract class ByteTokenizer {
  /** The lines, and after them what is written of an item. */
  protected bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  #linesEnd = 0;
  protected written = 0;
  /** The canonical text of the last value. */
  protected start = 0;
  protected end = 0;
  /** Position after the last value in its line. */
  protected next = 0;
  /** Whether the lines are UTF-8. If not, the reference path finds the faulty one. */
  protected isUtf8 = false;
  readonly #numbers: NumberWriter = new NumberWriter();

  protected loadLines(lines: Uint8Array): void {
    const needed = 2 * lines.length + SPARE_BYTES;
    if (this.bytes.length < needed || (this.bytes.length > MAX_KEPT_BYTES && needed <= INITIAL_BYTES)) {
      this.bytes = new Uint8Array(Math.max(needed, INITIAL_BYTES));
    }
    this.bytes.set(lines);
    // The last line has a line feed too, so that every loop ends there.
    this.bytes[lines.length] = LINE_FEED;
    this.#linesEnd = lines.length + 1;
    this.isUtf8 = isUtf8(lines);
  }

  protected rewind(): void {
    this.written = this.#linesEnd;
  }

  protected reserve(byteCount: number): void {
    if (this.written + byteCount <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.written + byteCount));
    grown.set(this.bytes.subarray(0, this.written));
    this.bytes = grown;
  }

  /** The position after the white space (RFC 8259 section 2) at `start`, at most the line feed. */
  protected skipWhitespace(start: number): number {
    const { bytes } = this;
    for (let position = start; ; position++) {
      const code = bytes[position] as number;
      if (code > SPACE || (code !== SPACE && code !== TAB && code !== CARRIAGE_RETURN)) return position;
    }
  }

  protected readString(open: number): number {
    const { bytes } = this;
    let position = open + 1;
    for (;;) {
      while (isPlainWord(bytes, position)) position += 4;
      let kind = classes[bytes[position] as number];
      while (kind === PLAIN) kind = classes[bytes[++position] as number];
      if (kind === END) {
        this.start = open;
        this.end = position + 1;
        this.next = position + 1;
        return STRING;
      }
      if (kind === ESCAPE) {
        if (CANONICAL_ESCAPES[bytes[position + 1] as number] !== 1)
          return this.#rewriteString(open, position);
        position += 2;
      } else return FALLBACK;
    }
  }

  /** Writes the string that opens at `open`, because the escape at `firstEscape` is not canonical. */
  #rewriteString(open: number, firstEscape: number): number {
    // No escape is longer in its canonical form.
    this.reserve(this.#linesEnd - open);
    const { bytes } = this;
    const start = this.written;
    let position = firstEscape;
    let copied = open;
    let to = start;
    for (;;) {
      let kind = classes[bytes[position] as number];
      while (kind === PLAIN) kind = classes[bytes[++position] as number];
      if (kind === ESCAPE) {
        const letter = bytes[position + 1] as number;
        if (CANONICAL_ESCAPES[letter] === 1) {
          position += 2;
          continue;
        }
        to = copyRange(bytes, to, copied, position);
        if (letter === SLASH) {
          bytes[to++] = SLASH;
          position += 2;
        } else {
          const unit = letter === LOWER_U ? readHex(bytes, position + 2) : -1;
          if (unit === -1) return FALLBACK;
          position += 6;
          const low = (unit & 0xfc00) === 0xd800 ? readUnicodeEscape(bytes, position) : -1;
          if ((low & 0xfc00) === 0xdc00) {
            position += 6;
            to = putCodePoint(bytes, to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
          } else to = putUnit(bytes, to, unit);
        }
        copied = position;
      } else if (kind === END) break;
      else return FALLBACK;
    }
    this.written = copyRange(bytes, to, copied, position + 1);
    this.start = start;
    this.end = this.written;
    this.next = position + 1;
    return STRING;
  }

  /**
   * Reads a number (RFC 8259 section 6), and makes it what `canonicalNumber` does. A plain decimal from 1e-6 to below
   * 1e21 stays as it is except zeros at its end, however many digits it has: the canonical text of such a value has no
   * exponent, whether a double holds it exactly or not.
   */
  protected readNumber(start: number): number {
    const { bytes } = this;
    let position = start;
    let code = bytes[position] as number;
    const isNegative = code === MINUS;
    if (isNegative) code = bytes[++position] as number;
    if (!(code >= ZERO && code <= NINE)) return FALLBACK;
    const first = position;
    const startsWithZero = code === ZERO;
    do code = bytes[++position] as number;
    while (code >= ZERO && code <= NINE);
    const digitCount = position - first;
    if (startsWithZero && digitCount > 1) return FALLBACK;

    this.start = start;
    if (code === POINT) {
      const point = position;
      let firstOther = -1;
      let lastOther = point;
      for (;;) {
        code = bytes[++position] as number;
        if (code > ZERO && code <= NINE) {
          lastOther = position;
          if (firstOther === -1) firstOther = position;
        } else if (code !== ZERO) break;
      }
      if (position === point + 1) return FALLBACK;
      const isPlain = !startsWithZero || (firstOther !== -1 && firstOther - point <= MAX_FIRST_DIGIT);
      if (
        isPlain &&
        digitCount <= MAX_PLAIN_DIGITS &&
        position - start <= MAX_LITERAL &&
        (code | 32) !== LOWER_E
      ) {
        this.end = lastOther === point ? point : lastOther + 1;
        this.next = position;
        return NUMBER;
      }
    } else if (digitCount <= MAX_PLAIN_DIGITS && (code | 32) !== LOWER_E && !(isNegative && startsWithZero)) {
      this.end = position;
      this.next = position;
      return INTEGER;
    }
    return this.#rewriteNumber(start, position);
  }

  #rewriteNumber(start: number, mantissaEnd: number): number {
    const numbers = this.#numbers;
    this.reserve(NumberWriter.maxBytes);
    const end = numbers.write(this.bytes, start, mantissaEnd, this.written);
    if (end === -1) return FALLBACK;
    this.start = this.written;
    this.written = end;
    this.end = end;
    this.next = numbers.next;
    return NUMBER;
  }

  protected readWord(position: number, word: Uint8Array, kind: number): number {
    for (let index = 1; index < word.length; index++) {
      if (this.bytes[position + index] !== word[index]) return FALLBACK;
    }
    this.start = position;
    this.end = position + word.length;
    this.next = this.end;
    return kind;
  }
}

/** The code unit of the `\u` escape at `position`; -1 if there is none. */
function readUnicodeEscape(bytes: Uint8Array, position: number): number {
  const isEscape = bytes[position] === BACKSLASH && bytes[position + 1] === LOWER_U;
  return isEscape ? readHex(bytes, position + 2) : -1;
}

/** The value of four hexadecimal digits; -1 for anything else. */
function readHex(bytes: Uint8Array, start: number): number {
  let value = 0;
  for (let position = start; position < start + 4; position++) {
    const code = bytes[position] as number;
    const lower = code | 32;
    if (code >= ZERO && code <= NINE) value = (value << 4) | (code - ZERO);
    else if (lower >= LOWER_A && lower <= LOWER_F) value = (value << 4) | (lower - LOWER_A + 10);
    else return -1;
  }
  return value;
}

function putUnit(bytes: Uint8Array, position: number, unit: number): number {
  if (unit < SPACE || unit === QUOTE || unit === BACKSLASH) return putEscape(bytes, position, unit);
  const isSurrogate = (unit & 0xf800) === 0xd800;
  return isSurrogate ? putUnicodeEscape(bytes, position, unit) : putCodePoint(bytes, position, unit);
}

/** Whether the four bytes from `position` on are all plain. Four at a time are faster than one. */
function isPlainWord(bytes: Uint8Array, position: number): boolean {
  return (
    ((classes[bytes[position] as number] as number) |
      (classes[bytes[position + 1] as number] as number) |
      (classes[bytes[position + 2] as number] as number) |
      (classes[bytes[position + 3] as number] as number)) ===
    0
  );
}

/**
 * Writes the escape of a code unit as RFC 8785 section 3.2.2.2 does, and returns the position after it: the short form
 * if there is one, else lower-case `\u00xx`. Takes at most six bytes.
 */
export function putEscape(bytes: Uint8Array, position: number, unit: number): number {
  const letter = shortEscape(unit);
  if (letter === 0) return putUnicodeEscape(bytes, position, unit);
  bytes[position] = BACKSLASH;
  bytes[position + 1] = letter;
  return position + 2;
}

/** The letter after the backslash of a short escape; 0 if the code unit has none. */
function shortEscape(unit: number): number {
  switch (unit) {
    case 10:
      return 110; // n
    case QUOTE:
    case BACKSLASH:
      return unit;
    case 9:
      return 116; // t
    case 13:
      return 114; // r
    case 8:
      return 98; // b
    case 12:
      return 102; // f
    default:
      return 0;
  }
}

export function putUnicodeEscape(bytes: Uint8Array, position: number, unit: number): number {
  bytes[position] = BACKSLASH;
  bytes[position + 1] = LOWER_U;
  for (let digit = 0; digit < 4; digit++) {
    const value = (unit >> (12 - 4 * digit)) & 15;
    bytes[position + 2 + digit] = value < 10 ? ZERO + value : LOWER_A - 10 + value;
  }
  return position + 6;
}

export function putCodePoint(bytes: Uint8Array, position: number, point: number): number {
  let to = position;
  if (point < 0x80) bytes[to++] = point;
  else {
    if (point < 0x800) bytes[to++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[to++] = 0xe0 | (point >> 12);
      else {
        bytes[to++] = 0xf0 | (point >> 18);
        bytes[to++] = 0x80 | ((point >> 12) & 63);
      }
      bytes[to++] = 0x80 | ((point >> 6) & 63);
    }
    bytes[to++] = 0x80 | (point & 63);
  }
  return to;
}
