import { JsonlError } from '../../errors.ts';
import { jsonPointer } from '../../source-location.ts';
import { ASCII, BYTE_CLASS, BYTE_CLASSES } from '../ascii.ts';
import { transferBuffer } from '../bytes.ts';
import { canonicalNumber } from '../canonical-number.ts';
import { ExactNumber, type JsonInput, type JsonObject, type JsonValue } from '../json-value.ts';

let spareWriter: CanonicalWriter | null = null;

/**
 * The canonical text of a value: RFC 8785 (JCS), with numbers as `canonicalNumber` writes them.
 *
 * - no white space (section 3.2.1), members sorted by the UTF-16 code units of their names (3.2.3);
 * - strings as 3.2.2.2; a lone surrogate, which RFC 8785 does not cover, is written as its lower-case `\udxxx` escape, so
 *   that the text is always well-formed and has one UTF-8 form;
 * - a `bigint` is written as the integer literal it is.
 *
 * @throws JsonlError `invalid_json` with the JSON Pointer of a value that JSON cannot hold: NaN, infinities, undefined,
 * functions, and instances of classes such as `Date` and `Map`; `nesting_too_deep` beyond 1,024 levels
 *
 * @example canonicalJson({ b: 1.0, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalJson(value: JsonInput): string {
  return withWriter((writer) => {
    writer.write(value);
    return writer.text(0, writer.length);
  });
}

/**
 * The length of a value's canonical text in bytes.
 *
 * @param maxBytes beyond which writing ends
 * @throws JsonlError as `canonicalJson` does, `line_too_long`
 */
export function canonicalByteLength(value: JsonInput, maxBytes: number = Number.POSITIVE_INFINITY): number {
  return withWriter((writer) => {
    writer.maxBytes = maxBytes;
    writer.write(value);
    return writer.length;
  });
}

/** Lends an empty writer, which is kept for its buffer: a getter of what is written may ask for another one. */
export function withWriter<T>(use: (writer: CanonicalWriter) => T): T {
  const writer = spareWriter ?? new CanonicalWriter();
  spareWriter = null;
  try {
    return use(writer);
  } finally {
    writer.maxBytes = Number.POSITIVE_INFINITY;
    writer.clear();
    spareWriter = writer;
  }
}

const { QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;
const { MINUS, POINT, ZERO } = ASCII;
const { PLAIN } = BYTE_CLASS;
const classes = BYTE_CLASSES;
const encoder = new TextEncoder();

const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew beyond this, for a large value, is not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_CHARACTER_BYTES = 4;
/** Smaller numbers of three decimals have at most 13 digits, fewer than a double keeps. */
const MAX_DECIMAL = 2 ** 31;
/** The length of -2147483647.999. */
const MAX_DECIMAL_BYTES = 15;

/** The writer recurses and the stack is finite, so deeper values are refused. */
const MAX_WRITE_DEPTH = 1024;
/** Up to this length, a loop over a string without escapes takes less time than a call of `JSON.stringify`. */
const SHORT_UNITS = 48;
/** A longer string is written in steps of this many UTF-16 code units, so that a bound of the buffer ends it early. */
const STEP_UNITS = 1024 * 1024;

/** Up to this number of keys, insertion is faster than `Array.prototype.sort`. */
const FEW_KEYS = 16;

/** Is called for each member of an object, in canonical order, with the positions of its key, its value and its end. */
export type MemberListener = (key: string, start: number, valueStart: number, end: number) => void;

/** Writes canonical JSON (see `canonicalJson`) as UTF-8, one value after another, into a growing buffer. */
export class CanonicalWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  /** Growing beyond this ends with `line_too_long`. What is written may be longer by one range or text. */
  maxBytes: number = Number.POSITIVE_INFINITY;

  /** The index or key that is being written in each open array or object. */
  readonly #path: (string | number)[] = [];

  /**
   * Writes a value.
   *
   * @throws JsonlError `invalid_json` and `nesting_too_deep` as `canonicalJson` does
   */
  write(value: JsonInput): void {
    this.#writeValue(value as JsonValue, 0);
  }

  /**
   * Writes an object, and reports where its members are.
   *
   * @throws JsonlError as `write` does
   */
  writeObject(object: JsonObject, onMember: MemberListener): void {
    this.#writeObject(object, 0, onMember);
  }

  #writeValue(value: JsonValue | bigint, depth: number): void {
    if (typeof value === 'string') this.#writeString(value);
    else if (typeof value === 'number') {
      // RFC 8785 section 3.2.2.3: the ECMAScript form.
      if (this.#writeDecimal(value)) return;
      if (!Number.isFinite(value)) throw this.#unwritable(value, depth);
      this.writeAscii(String(value));
    } else if (value === null) this.writeAscii('null');
    else if (typeof value === 'boolean') this.writeAscii(value ? 'true' : 'false');
    else if (typeof value === 'bigint') this.writeAscii(canonicalNumber(value.toString()));
    else if (Array.isArray(value)) this.#writeArray(value, depth);
    else if (isPlainObject(value)) this.#writeObject(value, depth, null);
    else if (value instanceof ExactNumber) this.writeAscii(value.text);
    else throw this.#unwritable(value, depth);
  }

  #writeArray(values: readonly JsonValue[], depth: number): void {
    if (depth === MAX_WRITE_DEPTH) throw tooDeep();
    this.writeByte(OPEN_BRACKET);
    for (let index = 0; index < values.length; index++) {
      if (index > 0) this.writeByte(COMMA);
      this.#path[depth] = index;
      this.#writeValue(values[index] as JsonValue, depth + 1);
    }
    this.writeByte(CLOSE_BRACKET);
  }

  #writeObject(object: JsonObject, depth: number, onMember: MemberListener | null): void {
    if (depth === MAX_WRITE_DEPTH) throw tooDeep();
    const keys = sortedKeys(object);
    this.writeByte(OPEN_BRACE);
    for (let index = 0; index < keys.length; index++) {
      if (index > 0) this.writeByte(COMMA);
      const key = keys[index] as string;
      const start = this.length;
      this.#writeString(key);
      this.writeByte(COLON);
      const valueStart = this.length;
      this.#path[depth] = key;
      this.#writeValue(object[key] as JsonValue, depth + 1);
      onMember?.(key, start, valueStart, this.length);
    }
    this.writeByte(CLOSE_BRACE);
  }

  /** The error of a value that JSON cannot hold, with its JSON Pointer. */
  #unwritable(value: unknown, depth: number): JsonlError {
    const location = depth === 0 ? {} : { path: jsonPointer(this.#path.slice(0, depth)) };
    return new JsonlError('invalid_json', `Cannot write ${describe(value)} as JSON`, location);
  }

  /** RFC 8785 section 3.2.2.2: the ECMAScript form, which also has one for lone surrogates. */
  #writeString(text: string): void {
    if (text.length <= SHORT_UNITS && this.writePlain(text)) return;
    if (text.length <= STEP_UNITS) {
      this.writeJson(JSON.stringify(text));
      return;
    }
    this.writeByte(QUOTE);
    for (let from = 0; from < text.length; ) {
      let to = from + STEP_UNITS;
      if (isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
      this.writeJson(JSON.stringify(text.slice(from, to)).slice(1, -1));
      from = to;
    }
    this.writeByte(QUOTE);
  }

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
  #writeDecimal(value: number): boolean {
    const size = Math.abs(value);
    const thousandths = Math.round(size * 1000);
    // A quotient is the double nearest to it.
    if (!(size < MAX_DECIMAL) || thousandths / 1000 !== size) return false;
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

/** RFC 8785 section 3.2.3: in the order of UTF-16 code units, as comparison and `Array.prototype.sort` have it. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as string;
    let to = index;
    for (; to > 0 && (keys[to - 1] as string) > key; to--) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return keys;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function tooDeep(): JsonlError {
  return new JsonlError('nesting_too_deep', `The value is nested more than ${MAX_WRITE_DEPTH} levels deep`);
}

/** A `Date`, a `Map` or another instance is not what its members say: writing them would lose data. */
function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // `Object.prototype` of another realm
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty');
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return `a value of type ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an instance of a class';
}
