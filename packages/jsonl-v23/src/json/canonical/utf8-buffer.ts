import { JsonlError } from '../../errors.ts';
import { ASCII, BYTE_CLASS, BYTE_CLASSES } from '../ascii.ts';
import { transferBuffer } from '../bytes.ts';

const { QUOTE, MINUS, POINT, ZERO } = ASCII;
const { PLAIN } = BYTE_CLASS;
const classes = BYTE_CLASSES;

/** Initial size of a buffer. */
const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew beyond this, for a large value, is not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_CHARACTER_BYTES = 4;
/** Smaller numbers of three decimals have at most 13 digits, fewer than a double keeps. */
const MAX_DECIMAL = 2 ** 31;
/** The length of -2147483647.999. */
const MAX_DECIMAL_BYTES = 15;

const encoder = new TextEncoder();

/** A growing buffer of UTF-8 to which JSON tokens are appended. */
export class Utf8Buffer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  /** Growing beyond this ends with `line_too_long`. What is written may be longer by one range or text. */
  maxBytes: number = Number.POSITIVE_INFINITY;

  /** Bytes written since the last `clear`. */
  get length(): number {
    return this.#length;
  }

  /** Removes all bytes. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length <= MAX_KEPT_BYTES) return;
    transferBuffer(this.#bytes.buffer, 0);
    this.#bytes = new Uint8Array(INITIAL_BYTES);
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
    this.#bytes = new Uint8Array(transferBuffer(this.#bytes.buffer, size));
  }
}
