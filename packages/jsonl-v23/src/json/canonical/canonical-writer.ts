import { JsonlError } from '../../errors.ts';
import { ASCII } from '../ascii.ts';
import { canonicalNumber } from '../canonical-number.ts';
import { ExactNumber, type JsonInput, type JsonObject, type JsonValue } from '../json-value.ts';
import { type Shape, ShapeCache, type ShapeMember } from './shape-cache.ts';
import { isPlainObject, UNWRITABLE, unwritableError } from './unwritable.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

const { QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;

/** The writer recurses and the stack is finite, so deeper values are refused. */
const MAX_WRITE_DEPTH = 1024;
/** Strings of this length are mostly embedded files in base64, and written again for the hash of an item. */
const LONG_UNITS = 16 * 1024;
/** A long string is written in steps of this many UTF-16 code units, so that no huge reserve is needed. */
const STEP_UNITS = 8 * 1024;
/** Keys that are cached, over all shapes; then the cache is dropped. */
const MAX_CACHED_KEYS = 16 * 1024;

/** Is called for each member of an object, in canonical order, with the positions of its key, its value and its end. */
export type MemberListener = (key: string, start: number, valueStart: number, end: number) => void;

/**
 * Writes canonical JSON (see `canonicalJson`) as UTF-8, one value after another. It caches the sorted and encoded keys
 * of objects, so that values of one shape are not sorted again; the cache is bounded.
 */
export class CanonicalWriter extends Utf8Buffer {
  /** Positions of the long strings that were written since the last `clear`. */
  readonly #longTexts: Map<string, { readonly start: number; readonly end: number }> = new Map();
  #cache: ShapeCache = new ShapeCache();
  #cachedKeys = 0;

  override clear(): void {
    super.clear();
    this.#longTexts.clear();
    if (this.#cachedKeys > MAX_CACHED_KEYS) {
      this.#cache = new ShapeCache();
      this.#cachedKeys = 0;
    }
  }

  /** Removes all bytes, and keeps the buffer whatever its size. */
  rewind(): void {
    this.truncate(0);
    this.#longTexts.clear();
  }

  /**
   * Writes a value.
   *
   * @throws JsonlError `invalid_json` and `nesting_too_deep` as `canonicalJson` does
   */
  write(value: JsonInput): void {
    try {
      this.#writeValue(value as JsonValue, this.#cache, MAX_WRITE_DEPTH);
    } catch (error) {
      throw error === UNWRITABLE ? unwritableError(value) : error;
    }
  }

  /**
   * Writes an object, and reports where its members are.
   *
   * @throws JsonlError as `write` does
   */
  writeObject(object: JsonObject, onMember: MemberListener): void {
    try {
      this.#writeObject(object, this.#cache, MAX_WRITE_DEPTH, onMember);
    } catch (error) {
      throw error === UNWRITABLE ? unwritableError(object) : error;
    }
  }

  #writeValue(value: JsonValue | bigint, cache: ShapeCache, depthLeft: number): void {
    if (typeof value === 'string') this.#writeString(value);
    else if (typeof value === 'number') this.#writeNumber(value);
    else if (value === null) this.writeAscii('null');
    else if (typeof value === 'boolean') this.writeAscii(value ? 'true' : 'false');
    else if (typeof value === 'bigint') this.writeAscii(canonicalNumber(value.toString()));
    else if (Array.isArray(value)) this.#writeArray(value, cache, depthLeft);
    else if (isPlainObject(value)) this.#writeObject(value, cache, depthLeft, null);
    else if (value instanceof ExactNumber) this.writeAscii(value.text);
    else throw UNWRITABLE;
  }

  #writeArray(values: readonly JsonValue[], cache: ShapeCache, depthLeft: number): void {
    if (depthLeft === 0) throw tooDeep();
    this.writeByte(OPEN_BRACKET);
    for (let index = 0; index < values.length; index++) {
      if (index > 0) this.writeByte(COMMA);
      this.#writeValue(values[index] as JsonValue, cache, depthLeft - 1);
    }
    this.writeByte(CLOSE_BRACKET);
  }

  /** RFC 8785 section 3.2.3: members in the order of the UTF-16 code units of their keys. */
  #writeObject(
    object: JsonObject,
    cache: ShapeCache,
    depthLeft: number,
    onMember: MemberListener | null,
  ): void {
    if (depthLeft === 0) throw tooDeep();
    const keys = Object.keys(object);
    const shape = cache.find(keys);
    this.writeByte(OPEN_BRACE);
    if (shape === null) {
      this.#cachedKeys += keys.length + 1;
      // Array.prototype.sort compares UTF-16 code units.
      const sorted = keys.toSorted();
      for (let index = 0; index < sorted.length; index++) {
        if (index > 0) this.writeByte(COMMA);
        const key = sorted[index] as string;
        const start = this.length;
        this.#writeString(key);
        this.writeByte(COLON);
        const valueStart = this.length;
        this.#writeValue(object[key] as JsonValue, cache.inner, depthLeft - 1);
        onMember?.(key, start, valueStart, this.length);
      }
    } else {
      const members = shape.members ?? this.#encodeKeys(shape);
      for (let index = 0; index < members.length; index++) {
        if (index > 0) this.writeByte(COMMA);
        const { key, quoted, inner } = members[index] as ShapeMember;
        const start = this.length;
        this.writeBytes(quoted);
        const valueStart = this.length;
        this.#writeValue(object[key] as JsonValue, inner, depthLeft - 1);
        onMember?.(key, start, valueStart, this.length);
      }
    }
    this.writeByte(CLOSE_BRACE);
  }

  /** Sorts and encodes the keys of a shape that came a second time. */
  #encodeKeys(shape: Shape): readonly ShapeMember[] {
    const members = shape.keys.toSorted().map((key) => {
      const start = this.length;
      this.#writeString(key);
      this.writeByte(COLON);
      const quoted = this.bytes(start, this.length).slice();
      this.truncate(start);
      return { key, quoted, inner: new ShapeCache() };
    });
    shape.members = members;
    return members;
  }

  /** RFC 8785 section 3.2.2.3: the ECMAScript form. */
  #writeNumber(value: number): void {
    if ((value | 0) === value) this.writeInteger(value);
    else if (Number.isFinite(value)) {
      if (!this.writeDecimal(value)) this.writeAscii(String(value));
    } else throw UNWRITABLE;
  }

  #writeString(text: string): void {
    if (text.length >= LONG_UNITS) {
      this.#writeLongString(text);
      return;
    }
    this.writeByte(QUOTE);
    this.writeUnits(text, 0, text.length);
    this.writeByte(QUOTE);
  }

  #writeLongString(text: string): void {
    const written = this.#longTexts.get(text);
    if (written !== undefined) {
      this.writeRange(written.start, written.end);
      return;
    }
    const start = this.length;
    this.writeByte(QUOTE);
    if (/["\\\x00-\x1f\x80-\uffff]/.test(text)) {
      for (let from = 0; from < text.length; ) {
        let to = Math.min(from + STEP_UNITS, text.length);
        if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
        this.writeUnits(text, from, to);
        from = to;
      }
    } else this.writeLongAscii(text);
    this.writeByte(QUOTE);
    this.#longTexts.set(text, { start, end: this.length });
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function tooDeep(): JsonlError {
  return new JsonlError('nesting_too_deep', `The value is nested more than ${MAX_WRITE_DEPTH} levels deep`);
}
