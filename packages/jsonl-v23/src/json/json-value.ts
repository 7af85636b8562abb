import { JsonlError } from '../errors.ts';
import { canonicalNumber } from './canonical-number.ts';
import { describeText } from './describe.ts';

const EXACT_NUMBER: unique symbol = Symbol.for('@svc/jsonl-v23.ExactNumber');

/**
 * A number that a double would round: a long integer, a decimal with many digits, a magnitude out of range. It holds
 * the canonical text of the number. `structuredClone` turns it into a plain object.
 *
 * @example new ExactNumber('12345678901234567890').text // '12345678901234567890'
 */
export class ExactNumber {
  /** Recognises the class of every installed copy of this package: a dependency may bring another version. */
  static [Symbol.hasInstance](value: unknown): value is ExactNumber {
    return typeof value === 'object' && value !== null && EXACT_NUMBER in value;
  }

  static {
    Object.defineProperty(ExactNumber.prototype, EXACT_NUMBER, { value: true });
  }

  /** The canonical text (see `canonicalNumber`). */
  readonly text: string;

  /** @throws JsonlError `invalid_json` if `text` is not a number in canonical form */
  constructor(text: string) {
    if (canonicalNumber(text) !== text) {
      throw new JsonlError('invalid_json', `${describeText(text)} is not a number in canonical form`);
    }
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** Makes `JSON.stringify` write the number, in engines that have `JSON.rawJSON`. */
  toJSON(): unknown {
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
    if (rawJSON === undefined)
      throw new TypeError(`Cannot write the number ${this.text}: this engine has no JSON.rawJSON`);
    return rawJSON(this.text);
  }
}

/** A JSON value. Numbers that a double holds exactly as written are plain numbers, all others `ExactNumber`. */
export type JsonValue = null | boolean | number | string | ExactNumber | JsonValue[] | JsonObject;

/** A JSON object: a plain object whose own members are the data, `__proto__` and `constructor` included. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * What can be written as JSON: your own interfaces fit. Anything but plain objects, arrays, `ExactNumber` and
 * primitive values is refused while it is written, with its JSON Pointer.
 */
export type JsonInput = null | boolean | number | bigint | string | object;

/** Whether a value is a JSON object: neither null nor an array nor an `ExactNumber`. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  // Parsed objects are recognised without asking `instanceof`, which takes several times as long.
  return (
    Object.getPrototypeOf(value) === Object.prototype ||
    (!Array.isArray(value) && !(value instanceof ExactNumber))
  );
}

/**
 * The value of a JSON number literal: a plain number when its canonical text is the ECMAScript form, else an
 * `ExactNumber`.
 *
 * @throws JsonlError `invalid_json`, `number_too_long` as `canonicalNumber` does
 *
 * @example parseNumber('1.50') // 1.5
 * @example parseNumber('9007199254740993') // ExactNumber
 */
export function parseNumber(literal: string): number | ExactNumber {
  const text = canonicalNumber(literal);
  const nearest = Number(text);
  return String(nearest) === text ? nearest : new ExactNumber(text);
}

/**
 * Sets a member of an object under construction. Assigning to `__proto__` would change the prototype and lose
 * the member, so that key is defined instead.
 */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** The own member of an object, or undefined: never an inherited one such as `constructor`. */
export function getMember(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Whether a value has more levels of arrays and objects than this. */
export function isDeeper(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((member) => isDeeper(member, levels - 1));
  // Each row of a table comes here: no list of its values is made.
  for (const key in value) if (isDeeper(value[key] as JsonValue, levels - 1)) return true;
  return false;
}

/** What a value is, for a message: `null`, `the number 5`, `the string "abc"`, `an array`, `an object`. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'string') return `the string ${describeText(value)}`;
  if (value instanceof ExactNumber) return `the number ${value.text.slice(0, 100)}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : typeof value;
}

/**
 * Writes JSON as `JSON.stringify` does, and numbers with all their digits in every engine: `JSON.rawJSON`, which
 * `ExactNumber` uses, is missing in Node 20.
 */
export function jsonText(value: unknown, indent: number = 0): string {
  if ('rawJSON' in JSON) return JSON.stringify(value, null, indent);
  // No other text has the mark.
  const mark = Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('');
  const text = JSON.stringify(withMarks(value, mark), null, indent);
  return text.includes(mark) ? text.replaceAll(new RegExp(`"${mark}([-+.0-9Ee]+)${mark}"`, 'g'), '$1') : text;
}

/** A value with marked texts in place of long numbers. */
function withMarks(value: unknown, mark: string): unknown {
  if (value instanceof ExactNumber) return `${mark}${value.text}${mark}`;
  if (Array.isArray(value)) return value.map((member) => withMarks(member, mark));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withMarks(member, mark)]));
}
