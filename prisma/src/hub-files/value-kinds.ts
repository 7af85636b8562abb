import { utf8 } from '../database/member-cursor.ts';

/** The kinds of JSON values, as bits of a set. */
const KIND = {
  string: 1,
  /** An integer that a double represents. */
  integer: 2,
  /** An integer of 64 bits beyond that. */
  longInteger: 4,
  /** A number with a fraction that a double represents. */
  double: 8,
  /** A number that neither type represents. */
  otherNumber: 16,
  boolean: 32,
  array: 64,
  object: 128,
} as const;

/** A set of kinds; nulls have none. */
export type Kinds = number;

/** The type of a column for values of some kinds. */
export type ValueType = 'string' | 'int64' | 'double' | 'bool' | 'json';

/** The kind of the value from `start` to `end`, from its canonical text. */
export function kindOf(bytes: Uint8Array, start: number, end: number): Kinds {
  switch (bytes[start]) {
    case 0x22:
      return KIND.string;
    case 0x5b:
      return KIND.array;
    case 0x7b:
      return KIND.object;
    case 0x74:
    case 0x66:
      return KIND.boolean;
    case 0x6e:
      return 0;
    default:
      return shortNumberKind(bytes, start, end) ?? numberKind(utf8(bytes, start, end));
  }
}

/** A double has each number of so many digits. */
const SAFE_DIGITS = 15;
const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39];

/** The kind of a number of few digits, which its text tells; undefined for others. */
function shortNumberKind(bytes: Uint8Array, start: number, end: number): Kinds | undefined {
  if (end - start > SAFE_DIGITS) return undefined;
  let point = -1;
  for (let at = bytes[start] === MINUS ? start + 1 : start; at < end; at += 1) {
    const code = bytes[at] as number;
    if (code === POINT && point === -1) point = at;
    else if (code < ZERO || code > NINE) return undefined;
  }
  if (point === -1) return KIND.integer;
  // ECMAScript writes smaller numbers with an exponent, and none with zeros at its end.
  const isPlain = bytes[point - 1] !== ZERO || bytes[point + 1] !== ZERO;
  return isPlain && bytes[end - 1] !== ZERO ? KIND.double : undefined;
}

function numberKind(json: string): Kinds {
  if (/^-?\d+$/.test(json)) {
    if (Number.isSafeInteger(Number(json))) return KIND.integer;
    const value = json.length <= 20 ? BigInt(json) : undefined;
    return value !== undefined && BigInt.asIntN(64, value) === value ? KIND.longInteger : KIND.otherNumber;
  }
  // The canonical text of a double is the one of ECMAScript; an integer with an exponent has more than 64 bits.
  const value = Number(json);
  return String(value) === json && !Number.isInteger(value) ? KIND.double : KIND.otherNumber;
}

/** The type that all values of some kinds have; null where there is no value. */
export function typeOf(kinds: Kinds): ValueType | null {
  const isOf = (...some: readonly Kinds[]): boolean =>
    (kinds & ~some.reduce((all, one) => all | one, 0)) === 0;
  if (kinds === 0) return null;
  if (isOf(KIND.string)) return 'string';
  if (isOf(KIND.boolean)) return 'bool';
  if (isOf(KIND.integer, KIND.longInteger)) return 'int64';
  if (isOf(KIND.integer, KIND.double)) return 'double';
  return 'json';
}

/** Whether values of some kinds are all arrays, all objects, or of one type that is not JSON. */
export function agree(kinds: Kinds): boolean {
  return kinds === KIND.array || kinds === KIND.object || !['json', null].includes(typeOf(kinds));
}
