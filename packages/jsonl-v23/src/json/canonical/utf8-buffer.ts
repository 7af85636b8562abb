import { isUtf8 } from '#native';
import { JsonlError } from '../../errors.ts';
import { ASCII } from '../ascii.ts';
import { transferBuffer } from '../transfer-buffer.ts';
import { putEscape } from './escapes.ts';
import { mantissaEnd, NumberWriter } from './number-writer.ts';
import { arePlain, BYTE_CLASS, BYTE_CLASSES, HIGHEST_BITS } from './string-bytes.ts';

const { QUOTE, MINUS, POINT, ZERO } = ASCII;
const { PLAIN } = BYTE_CLASS;
const classes = BYTE_CLASSES;

/** Initial size of a buffer. */
const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew beyond this, for a large value, is not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** A UTF-16 code unit takes at most this many bytes: `\u001f`. */
const BYTES_PER_UNIT = 6;
const MAX_CHARACTER_BYTES = 4;
/** Smaller numbers of three decimals have at most 13 digits, fewer than a double keeps. */
const MAX_DECIMAL = 2 ** 31;
/** The length of -2147483647.999. */
const MAX_DECIMAL_BYTES = 15;
/** Up to this length a loop copies faster than a call. */
const SHORT_BYTES = 24;

const encoder = new TextEncoder();

/** A growing buffer of UTF-8 to which JSON tokens are appended. */
export class Utf8Buffer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  /** Growing beyond this ends with `line_too_long`. What is written may be longer by one range or text. */
  maxBytes: number = Number.POSITIVE_INFINITY;
  #words: DataView = new DataView(this.#bytes.buffer);
  readonly #numbers: NumberWriter = new NumberWriter();

  /** Bytes written since the last `clear`. */
  get length(): number {
    return this.#length;
  }

  /** Removes all bytes. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length <= MAX_KEPT_BYTES) return;
    transferBuffer(this.#bytes.buffer, 0);
    this.#setBytes(new Uint8Array(INITIAL_BYTES));
  }

  /** Removes the bytes from `length` on. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** The bytes of a range: a view that is valid until the next write or clear. */
  bytes(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end);
  }

  /** The text of a range. */
  text(start: number, end: number): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#bytes.subarray(start, end));
  }

  /** Writes one ASCII character. */
  writeByte(byte: number): void {
    this.reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** Writes a range of this buffer once more. */
  writeRange(start: number, end: number): void {
    this.reserve(end - start);
    this.#bytes.copyWithin(this.#length, start, end);
    this.#length += end - start;
  }

  /** Writes ASCII characters. */
  writeAscii(text: string): void {
    this.reserve(text.length);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let index = 0; index < text.length; index++) bytes[length++] = text.charCodeAt(index);
    this.#length = length;
  }

  /**
   * Writes a number with at most three decimals digit by digit, in a third of the time of `String`, which looks for the
   * shortest digits. Returns false, and writes nothing, for any other number.
   */
  writeDecimal(value: number): boolean {
    const size = Math.abs(value);
    const thousandths = Math.round(size * 1000);
    // A quotient is the double nearest to it.
    if (size >= MAX_DECIMAL || thousandths / 1000 !== size) return false;
    this.reserve(MAX_DECIMAL_BYTES);
    const bytes = this.#bytes;
    if (value < 0) bytes[this.#length++] = MINUS;
    let whole = Math.floor(size);
    let fraction = thousandths - whole * 1000;
    let end = this.#length + 1;
    for (let bound = 10; bound <= whole; bound *= 10) end += 1;
    for (let at = end - 1; at >= this.#length; at--) {
      const tenth = Math.floor(whole / 10);
      bytes[at] = ZERO + whole - tenth * 10;
      whole = tenth;
    }
    if (fraction > 0) bytes[end++] = POINT;
    for (; fraction > 0; fraction = (fraction * 10) % 1000) bytes[end++] = ZERO + Math.floor(fraction / 100);
    this.#length = end;
    return true;
  }

  /** Writes a string of ASCII characters without escapes. Returns false, and writes nothing, if it has any others. */
  writePlain(text: string): boolean {
    this.reserve(text.length + 2);
    const bytes = this.#bytes;
    let length = this.#length;
    bytes[length++] = QUOTE;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80 || classes[unit] !== PLAIN) return false;
      bytes[length++] = unit;
    }
    bytes[length++] = QUOTE;
    this.#length = length;
    return true;
  }

  /** Writes a text without lone surrogates. */
  writeJson(text: string): void {
    let rest = text;
    for (;;) {
      // Enough for a text of ASCII, and for a character of any other, so that each turn writes some of it.
      this.reserve(rest.length + MAX_CHARACTER_BYTES);
      const { read, written } = encoder.encodeInto(rest, this.#bytes.subarray(this.#length));
      this.#length += written;
      if (read === rest.length) return;
      rest = rest.slice(read);
    }
  }

  /**
   * Writes a range of UTF-8 as a string. Returns false, and writes nothing, if the range is not UTF-8.
   *
   * @param words the same bytes; to make the view for every text would take as long as writing a short one
   */
  writeText(text: Uint8Array, words: DataView, from: number, end: number): boolean {
    // Enough for a text without escapes; each escape reserves more.
    this.reserve(end - from + 2);
    let bytes = this.#bytes;
    let target = this.#words;
    let length = this.#length;
    const lastPair = end - 8;
    let position = from;
    let seen = 0;
    bytes[length++] = QUOTE;
    for (;;) {
      for (; position <= lastPair; position += 8) {
        const first = words.getInt32(position, true);
        const second = words.getInt32(position + 4, true);
        if (!arePlain(first, second)) break;
        seen |= first | second;
        target.setInt32(length, first, true);
        target.setInt32(length + 4, second, true);
        length += 8;
      }
      for (; position < end; position += 1) {
        const byte = text[position] as number;
        if (classes[byte] !== PLAIN) break;
        seen |= byte;
        bytes[length++] = byte;
      }
      if (position === end) break;
      this.reserve(length - this.#length + end - position + BYTES_PER_UNIT + 1);
      bytes = this.#bytes;
      target = this.#words;
      length = putEscape(bytes, length, text[position] as number);
      position += 1;
    }
    if ((seen & HIGHEST_BITS) !== 0 && !isUtf8(text.subarray(from, end))) return false;
    bytes[length++] = QUOTE;
    this.#length = length;
    return true;
  }

  /** Writes the number that a range spells. Returns false, and writes nothing, if the range is not a JSON number. */
  writeNumber(text: Uint8Array, start: number, end: number): boolean {
    const mantissa = mantissaEnd(text, start, end);
    if (mantissa === -1) return false;
    this.reserve(NumberWriter.maxBytes);
    const length = this.#numbers.write(text, start, mantissa, end, this.#bytes, this.#length);
    if (length === -1 || this.#numbers.next !== end) return false;
    this.#length = length;
    return true;
  }

  /** Writes a range of other bytes as it is. */
  writeSpan(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    if (end - start > SHORT_BYTES) {
      this.#bytes.set(source.subarray(start, end), this.#length);
      this.#length += end - start;
      return;
    }
    const bytes = this.#bytes;
    let length = this.#length;
    for (let index = start; index < end; index++) bytes[length++] = source[index] as number;
    this.#length = length;
  }

  /** Grows the buffer for this many more bytes. */
  reserve(byteCount: number): void {
    if (this.#length + byteCount <= this.#bytes.length) return;
    if (this.#length > this.maxBytes) {
      throw new JsonlError(
        'line_too_long',
        `The value must have at most ${this.maxBytes} bytes as canonical JSON`,
      );
    }
    const size = Math.max(this.#bytes.length * 2, this.#length + byteCount);
    this.#setBytes(new Uint8Array(transferBuffer(this.#bytes.buffer, size)));
  }

  #setBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#words = new DataView(bytes.buffer);
  }
}
