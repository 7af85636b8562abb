import { ASCII } from '../json/ascii.ts';

const { COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;

/** Numbers for each member: where its key and its value start and end, and which key it is. */
const FIELDS = 5;
const KEY_START = 0;
const KEY_END = 1;
const VALUE_START = 2;
const VALUE_END = 3;
const KEY = 4;

/** The key of a member whose key is data: more than any node knows. */
export const NO_KEY = 0xffff;

/** First bytes in UTF-8 of U+E000 and of U+10000. */
const FIRST_OF_E000 = 0xee;
const FIRST_OF_FOUR = 0xf0;

/** A stack of the members of all objects and arrays that are open, as ranges of one buffer. Array items have no key. */
export class MemberRanges {
  #ranges: Int32Array = new Int32Array(FIELDS * 1024);
  /** Number of members on the stack; set it to a lower number to remove the last ones. */
  count = 0;

  push(keyStart: number, keyEnd: number, valueStart: number, valueEnd: number, key: number): void {
    const at = FIELDS * this.count++;
    if (at === this.#ranges.length) this.#grow();
    const ranges = this.#ranges;
    ranges[at + KEY_START] = keyStart;
    ranges[at + KEY_END] = keyEnd;
    ranges[at + VALUE_START] = valueStart;
    ranges[at + VALUE_END] = valueEnd;
    ranges[at + KEY] = key;
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#ranges.length);
    grown.set(this.#ranges);
    this.#ranges = grown;
  }

  /** The bytes that a member takes in an object: its key, a colon, its value and a comma or brace. */
  memberLength(member: number): number {
    const ranges = this.#ranges;
    const at = FIELDS * member;
    const keyLength = (ranges[at + KEY_END] as number) - (ranges[at + KEY_START] as number);
    return keyLength + (ranges[at + VALUE_END] as number) - (ranges[at + VALUE_START] as number) + 2;
  }

  key(member: number): number {
    return this.#ranges[FIELDS * member + KEY] as number;
  }

  /** Compares the keys of two members, which have no escapes, by their UTF-16 code units (RFC 8785 section 3.2.3). */
  compareKeys(bytes: Uint8Array, one: number, other: number): number {
    const ranges = this.#ranges;
    const oneStart = (ranges[FIELDS * one + KEY_START] as number) + 1;
    const otherStart = (ranges[FIELDS * other + KEY_START] as number) + 1;
    const oneLength = (ranges[FIELDS * one + KEY_END] as number) - 1 - oneStart;
    const otherLength = (ranges[FIELDS * other + KEY_END] as number) - 1 - otherStart;
    const shorter = Math.min(oneLength, otherLength);
    for (let index = 0; index < shorter; index += 1) {
      const a = bytes[oneStart + index] as number;
      const b = bytes[otherStart + index] as number;
      if (a === b) continue;
      // UTF-16 has what four bytes of UTF-8 encode before U+E000, which begins with the byte 0xEE.
      const isReversed =
        a >= FIRST_OF_E000 && b >= FIRST_OF_E000 && a >= FIRST_OF_FOUR !== b >= FIRST_OF_FOUR;
      return isReversed ? b - a : a - b;
    }
    return oneLength - otherLength;
  }

  valueStart(member: number): number {
    return this.#ranges[FIELDS * member + VALUE_START] as number;
  }

  valueEnd(member: number): number {
    return this.#ranges[FIELDS * member + VALUE_END] as number;
  }

  /** The most bytes that the members from `first` on take as an object or array. */
  textLength(first: number): number {
    const ranges = this.#ranges;
    const end = FIELDS * this.count;
    let length = 2;
    for (let at = FIELDS * first; at < end; at += FIELDS) {
      length += (ranges[at + KEY_END] as number) - (ranges[at + KEY_START] as number) + 2;
      length += (ranges[at + VALUE_END] as number) - (ranges[at + VALUE_START] as number);
    }
    return length;
  }

  writeObject(
    bytes: Uint8Array,
    start: number,
    first: number,
    indexes: Readonly<Int32Array>,
    count: number,
  ): number {
    const ranges = this.#ranges;
    let to = start;
    bytes[to++] = OPEN_BRACE;
    for (let rank = 0; rank < count; rank++) {
      if (rank > 0) bytes[to++] = COMMA;
      const at = FIELDS * (first + (indexes[rank] as number));
      to = copyRange(bytes, to, ranges[at + KEY_START] as number, ranges[at + KEY_END] as number);
      bytes[to++] = COLON;
      to = copyRange(bytes, to, ranges[at + VALUE_START] as number, ranges[at + VALUE_END] as number);
    }
    bytes[to++] = CLOSE_BRACE;
    return to;
  }

  writeArray(bytes: Uint8Array, start: number, first: number): number {
    const ranges = this.#ranges;
    let to = start;
    bytes[to++] = OPEN_BRACKET;
    for (let member = first; member < this.count; member++) {
      if (member > first) bytes[to++] = COMMA;
      const at = FIELDS * member;
      to = copyRange(bytes, to, ranges[at + VALUE_START] as number, ranges[at + VALUE_END] as number);
    }
    bytes[to++] = CLOSE_BRACKET;
    return to;
  }
}

/** Shorter pieces are copied faster by a loop than by a call. */
const SHORT_BYTES = 16;

export function copyRange(bytes: Uint8Array, to: number, start: number, end: number): number {
  if (end - start > SHORT_BYTES) {
    bytes.copyWithin(to, start, end);
    return to + end - start;
  }
  let position = to;
  for (let from = start; from < end; from++) bytes[position++] = bytes[from] as number;
  return position;
}
