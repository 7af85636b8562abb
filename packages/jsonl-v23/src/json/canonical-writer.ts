import { JsonlError } from '../errors.ts';
import { canonicalNumber } from './canonical-number.ts';
import { ExactNumber, type JsonObject, type JsonValue } from './json-value.ts';
import { type Shape, type ShapeMember, ShapeMemory } from './shape-memory.ts';
import { isPlain4, LEADS, STRING_BYTES } from './string-bytes.ts';
import { sequenceEnd } from './utf8.ts';

/** Deepest value that is written. The writer recurses, and a stack overflow must not end the process. */
const MAX_WRITE_DEPTH = 1024;

const START_BYTES = 64 * 1024;
/** A buffer that a large value made grow beyond this is not kept. */
const KEPT_BYTES = 1024 * 1024;
/** Strings from this length on are embedded files, mostly: base64, and written once more for the hash of an item. */
const LONG_UNITS = 16 * 1024;
/** UTF-16 code units that are written before room is made again, and the bytes each can take (`\u001f`). */
const STEP_UNITS = 8 * 1024;
const BYTES_PER_UNIT = 6;
/** Shorter pieces are copied faster by a loop than by a call. */
const SHORT_BYTES = 24;
/** Keys that are remembered, over all shapes; then the memory starts anew. */
const MOST_REMEMBERED_KEYS = 16 * 1024;

const QUOTE = 34;
const MINUS = 45;
const ZERO = 48;
/** Of -2147483648. */
const MAX_INTEGER_BYTES = 11;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Told of each member of an object, in canonical order: where its key, its value and its end are. */
export type MemberListener = (key: string, start: number, valueStart: number, end: number) => void;

/**
 * Writes canonical JSON (see `canonicalJson`) as UTF-8, one value after another into one growing buffer. A writer
 * remembers the keys it sorted and encoded, so that values of one shape cost no sorting; what it remembers is
 * bounded.
 */
export class CanonicalWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(START_BYTES);
  #length = 0;
  /** Where the long strings stand that were written since the last `clear`. */
  readonly #longTexts: Map<string, { start: number; end: number }> = new Map();
  #memory: ShapeMemory = new ShapeMemory();
  #rememberedKeys = 0;

  /** Bytes written since the last `clear`. */
  get length(): number {
    return this.#length;
  }

  /** Starts anew. */
  clear(): void {
    this.#length = 0;
    this.#longTexts.clear();
    if (this.#bytes.length > KEPT_BYTES) {
      // Freed at once: a collection of garbage may be long in coming.
      this.#bytes.buffer.transfer(0);
      this.#bytes = new Uint8Array(START_BYTES);
    }
    if (this.#rememberedKeys > MOST_REMEMBERED_KEYS) {
      this.#memory = new ShapeMemory();
      this.#rememberedKeys = 0;
    }
  }

  /** Starts anew in the same buffer, whatever its size. */
  rewind(): void {
    this.#length = 0;
    this.#longTexts.clear();
  }

  /** Makes room for so many bytes more, where it is known how many are to come. */
  reserve(byteCount: number): void {
    this.#reserve(byteCount);
  }

  /** The bytes of a range, as a view that the next writing or clearing makes void. */
  bytes(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end);
  }

  /** The text of a range. */
  text(start: number, end: number): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#bytes.subarray(start, end));
  }

  /** Writes a value. Throws JsonlError `invalid_json` and `nesting_too_deep` as `canonicalJson` does. */
  write(value: JsonValue | bigint): void {
    this.#writeValue(value, this.#memory, MAX_WRITE_DEPTH);
  }

  /** Writes a string that a range of bytes is in UTF-8; false, with nothing written, where they are no UTF-8. */
  writeText(text: Uint8Array, from: number, end: number): boolean {
    const start = this.#length;
    // Room for a text in which nothing is escaped; each escape makes more.
    this.#reserve(end - from + 2);
    this.#bytes[this.#length++] = QUOTE;
    const lastStep = end - 4;
    let copied = from;
    let position = from;
    for (;;) {
      while (position <= lastStep && isPlain4(text, position)) position += 4;
      while (position < end && STRING_BYTES[text[position] as number] === 0) position++;
      if (position === end) break;
      const byte = text[position] as number;
      if (STRING_BYTES[byte] === LEADS) {
        position = sequenceEnd(text, position);
        if (position !== -1 && position <= end) continue;
        this.#length = start;
        return false;
      }
      this.#copy(text, copied, position);
      this.#reserve(end - position + BYTES_PER_UNIT + 1);
      this.#length = putEscape(this.#bytes, this.#length, byte);
      position++;
      copied = position;
    }
    this.#copy(text, copied, end);
    this.#bytes[this.#length++] = QUOTE;
    return true;
  }

  /** Writes an object as `write` does, and tells where its members are. */
  writeObject(object: JsonObject, onMember: MemberListener): void {
    this.#writeObject(object, this.#memory, MAX_WRITE_DEPTH, onMember);
  }

  /** Writes one ASCII character. */
  writeByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** Writes a range once more. */
  writeRange(start: number, end: number): void {
    this.#reserve(end - start);
    this.#bytes.copyWithin(this.#length, start, end);
    this.#length += end - start;
  }

  #writeValue(value: JsonValue | bigint, memory: ShapeMemory, depthLeft: number): void {
    if (typeof value === 'string') this.#writeString(value);
    else if (typeof value === 'number') this.#writeNumber(value);
    else if (value === null) this.#writeAscii('null');
    else if (typeof value === 'boolean') this.#writeAscii(value ? 'true' : 'false');
    else if (typeof value === 'bigint') this.#writeAscii(canonicalNumber(value.toString()));
    else if (Array.isArray(value)) this.#writeArray(value, memory, depthLeft);
    else if (value instanceof ExactNumber) this.#writeAscii(value.text);
    else if (typeof value === 'object') this.#writeObject(value, memory, depthLeft, null);
    else throw new JsonlError('invalid_json', `A value of type ${typeof value} cannot be written as JSON`);
  }

  #writeArray(values: readonly JsonValue[], memory: ShapeMemory, depthLeft: number): void {
    if (depthLeft === 0) throw tooDeep();
    this.writeByte(OPEN_BRACKET);
    for (let index = 0; index < values.length; index++) {
      if (index > 0) this.writeByte(COMMA);
      this.#writeValue(values[index] as JsonValue, memory, depthLeft - 1);
    }
    this.writeByte(CLOSE_BRACKET);
  }

  /** RFC 8785 section 3.2.3: members in the order of their keys' UTF-16 code units. */
  #writeObject(
    object: JsonObject,
    memory: ShapeMemory,
    depthLeft: number,
    onMember: MemberListener | null,
  ): void {
    if (depthLeft === 0) throw tooDeep();
    const keys = Object.keys(object);
    const shape = memory.recall(keys);
    this.writeByte(OPEN_BRACE);
    if (shape === null) {
      this.#rememberedKeys += keys.length + 1;
      // Array.prototype.sort compares UTF-16 code units.
      const sorted = keys.toSorted();
      for (let index = 0; index < sorted.length; index++) {
        if (index > 0) this.writeByte(COMMA);
        const key = sorted[index] as string;
        const start = this.#length;
        this.#writeString(key);
        this.writeByte(COLON);
        const valueStart = this.#length;
        this.#writeValue(object[key] as JsonValue, memory.inner, depthLeft - 1);
        onMember?.(key, start, valueStart, this.#length);
      }
    } else {
      const members = shape.members ?? this.#remember(shape);
      for (let index = 0; index < members.length; index++) {
        if (index > 0) this.writeByte(COMMA);
        const { key, quoted, inner } = members[index] as ShapeMember;
        const start = this.#length;
        this.#writeBytes(quoted);
        const valueStart = this.#length;
        this.#writeValue(object[key] as JsonValue, inner, depthLeft - 1);
        onMember?.(key, start, valueStart, this.#length);
      }
    }
    this.writeByte(CLOSE_BRACE);
  }

  #remember(shape: Shape): readonly ShapeMember[] {
    const members = shape.keys.toSorted().map((key) => {
      const start = this.#length;
      this.#writeString(key);
      this.writeByte(COLON);
      const quoted = this.#bytes.slice(start, this.#length);
      this.#length = start;
      return { key, quoted, inner: new ShapeMemory() };
    });
    shape.members = members;
    return members;
  }

  /** RFC 8785 section 3.2.2.3: the ECMAScript form. */
  #writeNumber(value: number): void {
    if ((value | 0) === value) this.#writeInteger(value);
    else if (Number.isFinite(value)) this.#writeAscii(String(value));
    else throw new JsonlError('invalid_json', `${value} cannot be written as JSON`);
  }

  /** An integer of 32 bits, without a text of its own; -0 is one, and written 0. */
  #writeInteger(value: number): void {
    this.#reserve(MAX_INTEGER_BYTES);
    const bytes = this.#bytes;
    if (value < 0) bytes[this.#length++] = MINUS;
    let rest = Math.abs(value);
    let digits = 1;
    for (let bound = 10; rest >= bound; bound *= 10) digits++;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10);
      bytes[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.#length += digits;
  }

  /** RFC 8785 section 3.2.2.2. */
  #writeString(text: string): void {
    if (text.length >= LONG_UNITS) {
      this.#writeLongString(text);
      return;
    }
    this.writeByte(QUOTE);
    this.#writeUnits(text, 0, text.length);
    this.writeByte(QUOTE);
  }

  #writeLongString(text: string): void {
    const written = this.#longTexts.get(text);
    if (written !== undefined) {
      this.writeRange(written.start, written.end);
      return;
    }
    const start = this.#length;
    this.writeByte(QUOTE);
    if (/["\\\x00-\x1f\x80-\uffff]/.test(text)) {
      for (let from = 0; from < text.length; ) {
        let to = Math.min(from + STEP_UNITS, text.length);
        if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to++;
        this.#writeUnits(text, from, to);
        from = to;
      }
    } else {
      this.#reserve(text.length);
      new TextEncoder().encodeInto(text, this.#bytes.subarray(this.#length));
      this.#length += text.length;
    }
    this.writeByte(QUOTE);
    this.#longTexts.set(text, { start, end: this.#length });
  }

  #writeUnits(text: string, start: number, end: number): void {
    this.#reserve((end - start) * BYTES_PER_UNIT);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let index = start; index < end; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80) {
        if (unit >= 32 && unit !== QUOTE && unit !== BACKSLASH) bytes[length++] = unit;
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
        if (isHighSurrogate(unit) && next >= 0xdc00 && next <= 0xdfff) {
          const point = 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00);
          bytes[length++] = 0xf0 | (point >> 18);
          bytes[length++] = 0x80 | ((point >> 12) & 63);
          bytes[length++] = 0x80 | ((point >> 6) & 63);
          bytes[length++] = 0x80 | (point & 63);
          index++;
        } else {
          // RFC 8785 has no form for a lone surrogate, and UTF-8 none either.
          length = putUnicodeEscape(bytes, length, unit);
        }
      }
    }
    this.#length = length;
  }

  #writeAscii(text: string): void {
    this.#reserve(text.length);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let index = 0; index < text.length; index++) bytes[length++] = text.charCodeAt(index);
    this.#length = length;
  }

  #writeBytes(added: Uint8Array): void {
    this.#reserve(added.length);
    const bytes = this.#bytes;
    let length = this.#length;
    // Keys are short: a loop is faster than a call of set().
    for (let index = 0; index < added.length; index++) bytes[length++] = added[index] as number;
    this.#length = length;
  }

  /** Writes a range of other bytes, for which there is room. */
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

  #reserve(byteCount: number): void {
    if (this.#length + byteCount <= this.#bytes.length) return;
    const size = Math.max(this.#bytes.length * 2, this.#length + byteCount);
    this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(size));
  }
}

/** The short escapes where there are some, lower-case `\u00xx` for the other control characters. */
function putEscape(bytes: Uint8Array, length: number, unit: number): number {
  const letter = shortEscape(unit);
  if (letter === 0) return putUnicodeEscape(bytes, length, unit);
  bytes[length] = BACKSLASH;
  bytes[length + 1] = letter;
  return length + 2;
}

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

function putUnicodeEscape(bytes: Uint8Array, length: number, unit: number): number {
  bytes[length] = BACKSLASH;
  bytes[length + 1] = 117;
  for (let digit = 0; digit < 4; digit++) {
    const value = (unit >> (12 - 4 * digit)) & 15;
    bytes[length + 2 + digit] = value < 10 ? 48 + value : 87 + value;
  }
  return length + 6;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function tooDeep(): JsonlError {
  return new JsonlError('nesting_too_deep', `The value is nested over ${MAX_WRITE_DEPTH} levels deep`);
}
