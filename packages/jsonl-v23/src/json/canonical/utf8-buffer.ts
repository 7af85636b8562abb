import { JsonlError } from '../../errors.ts';
import { ASCII } from '../ascii.ts';
import { transferBuffer } from '../transfer-buffer.ts';
import { sequenceEnd } from '../utf8.ts';
import { putCodePoint, putEscape, putUnicodeEscape } from './escapes.ts';
import { BYTE_CLASS, BYTE_CLASSES, isPlainPair } from './string-bytes.ts';

const { SPACE, QUOTE, MINUS, POINT, ZERO, BACKSLASH } = ASCII;
const { PLAIN, MULTIBYTE } = BYTE_CLASS;
const classes = BYTE_CLASSES;

/** Initial size of a buffer. */
const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew beyond this, for a large value, is not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** A UTF-16 code unit takes at most this many bytes: `\u001f`. */
const BYTES_PER_UNIT = 6;
/** The length of -2147483648. */
const MAX_INTEGER_BYTES = 11;
/** Smaller numbers of three decimals have at most 13 digits, fewer than a double keeps. */
const MAX_DECIMAL = 2 ** 31;
/** Up to this length a loop copies faster than a call. */
const SHORT_BYTES = 24;

/** A growing buffer of UTF-8 to which JSON tokens are appended. */
export class Utf8Buffer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  /** Growing beyond this ends with `line_too_long`. What is written may be longer by one string. */
  maxBytes: number = Number.POSITIVE_INFINITY;
  #words: DataView = new DataView(this.#bytes.buffer);

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

  /** Writes a short sequence of bytes. */
  writeBytes(added: Uint8Array): void {
    this.reserve(added.length);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let index = 0; index < added.length; index++) bytes[length++] = added[index] as number;
    this.#length = length;
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

  /** Writes many ASCII characters. */
  writeLongAscii(text: string): void {
    this.reserve(text.length);
    new TextEncoder().encodeInto(text, this.#bytes.subarray(this.#length));
    this.#length += text.length;
  }

  /** Writes an integer of 32 bits without making a string; -0 is written 0. */
  writeInteger(value: number): void {
    this.reserve(MAX_INTEGER_BYTES);
    const bytes = this.#bytes;
    if (value < 0) bytes[this.#length++] = MINUS;
    let rest = Math.abs(value);
    let digits = 1;
    for (let bound = 10; rest >= bound; bound *= 10) digits += 1;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10);
      bytes[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.#length += digits;
  }

  /**
   * Writes a number with at most three decimals without making a string, of which V8 would keep thousands in a cache, with
   * their numbers. Returns false, and writes nothing, for any other number.
   */
  writeDecimal(value: number): boolean {
    const size = Math.abs(value);
    const thousandths = Math.round(size * 1000);
    // A quotient is the double that is nearest to it.
    if (size >= MAX_DECIMAL || thousandths / 1000 !== size) return false;
    this.reserve(MAX_INTEGER_BYTES + 5);
    if (value < 0) this.#bytes[this.#length++] = MINUS;
    const whole = Math.floor(thousandths / 1000);
    this.writeInteger(whole);
    let rest = thousandths - whole * 1000;
    if (rest > 0) this.#bytes[this.#length++] = POINT;
    for (let unit = 100; rest > 0; unit /= 10) {
      const digit = Math.floor(rest / unit);
      this.#bytes[this.#length++] = ZERO + digit;
      rest -= digit * unit;
    }
    return true;
  }

  /** Writes UTF-16 code units as the inside of a string (RFC 8785 section 3.2.2.2). */
  writeUnits(text: string, start: number, end: number): void {
    this.reserve((end - start) * BYTES_PER_UNIT);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let index = start; index < end; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80) {
        if (unit >= SPACE && unit !== QUOTE && unit !== BACKSLASH) bytes[length++] = unit;
        else length = putEscape(bytes, length, unit);
      } else if (unit < 0x800) {
        bytes[length++] = 0xc0 | (unit >> 6);
        bytes[length++] = 0x80 | (unit & 63);
      } else if (unit < 0xd800 || unit > 0xdfff) {
        bytes[length++] = 0xe0 | (unit >> 12);
        bytes[length++] = 0x80 | ((unit >> 6) & 63);
        bytes[length++] = 0x80 | (unit & 63);
      } else {
        const next = index + 1 < end ? text.charCodeAt(index + 1) : 0;
        if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
          length = putCodePoint(bytes, length, 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00));
          index += 1;
        } else {
          // RFC 8785 has no form for a lone surrogate, and UTF-8 has none either.
          length = putUnicodeEscape(bytes, length, unit);
        }
      }
    }
    this.#length = length;
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
    bytes[length++] = QUOTE;
    for (;;) {
      for (; position <= lastPair && isPlainPair(words, position); position += 8) {
        target.setInt32(length, words.getInt32(position, true), true);
        target.setInt32(length + 4, words.getInt32(position + 4, true), true);
        length += 8;
      }
      while (position < end && classes[text[position] as number] === PLAIN) {
        bytes[length++] = text[position++] as number;
      }
      if (position === end) break;
      const byte = text[position] as number;
      if (classes[byte] === MULTIBYTE) {
        const next = sequenceEnd(text, position);
        if (next === -1 || next > end) return false;
        while (position < next) bytes[length++] = text[position++] as number;
        continue;
      }
      this.reserve(length - this.#length + end - position + BYTES_PER_UNIT + 1);
      bytes = this.#bytes;
      target = this.#words;
      length = putEscape(bytes, length, byte);
      position += 1;
    }
    bytes[length++] = QUOTE;
    this.#length = length;
    return true;
  }

  /** Writes a range of other bytes as it is. */
  writeSpan(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    this.#copy(source, start, end);
  }

  /** Copies a range of other bytes, for which there must be room. */
  #copy(source: Uint8Array, start: number, end: number): void {
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
