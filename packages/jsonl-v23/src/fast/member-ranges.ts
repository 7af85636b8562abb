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

  /** The number of its key. */
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

  /** Writes the members `first + indexes[0]`, `first + indexes[1]` …, `count` of them, as an object. Returns the position after it. */
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

  /** Writes the members from `first` on as an array. Returns the position after it. */
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

const NONE: Int32Array = new Int32Array(0);
/** An object has at most 256 members, and a node fewer keys than what is left of 31 bits. */
const INDEX_BITS = 8;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
/** Beyond, sorting by insertion takes longer than the engine's sort. */
const MAX_INSERTION = 24;

/** A key of the objects at a node. */
export interface RankedKey {
  readonly key: string;
  readonly isRequired: boolean;
  /** Position among the node's keys in canonical order. */
  readonly rank: number;
}

/** What the order of an object depends on besides its keys. */
export interface OrderRule {
  readonly required: readonly string[];
  /** Whether the object is an item, whose parts are found. */
  readonly isItem?: boolean | undefined;
}

/** The members of the last object at a node in canonical order (RFC 8785 section 3.2.3). */
export class KeyOrder {
  /** For each member its index in the order in which it is written; the first `count` are valid. */
  indexes: Int32Array = NONE;
  /** The indexes of all members but `answer`, `assets` and `checker`. */
  others: Int32Array = NONE;
  count = 0;
  othersCount = 0;
  /** The index of each part of an item; -1 if the key is absent. */
  type = -1;
  answer = -1;
  assets = -1;
  checker = -1;
  /** The canonical position after which all members are others; -1 if they are not the last ones. */
  othersRank = -1;
  /** Whether the members are written in canonical order. */
  isSorted = true;
  #isValid = false;

  invalidate(): void {
    this.#isValid = false;
  }

  /** Whether this is the order of `count` members with the keys of the last object. */
  holdsFor(count: number): boolean {
    return this.#isValid && this.count === count;
  }

  /** Sorts the members from `first` on. Returns false if two have the same key, or a required key is missing. */
  sort(members: MemberRanges, first: number, keys: readonly RankedKey[], rule: OrderRule | null): boolean {
    this.#isValid = false;
    const count = members.count - first;
    this.#reserve(count);
    const { indexes } = this;
    let isSorted = true;
    let lastRank = -1;
    let required = 0;
    for (let index = 0; index < count; index += 1) {
      const key = keys[members.key(first + index)] as RankedKey;
      if (key.isRequired) required += 1;
      isSorted &&= key.rank > lastRank;
      lastRank = key.rank;
      indexes[index] = (key.rank << INDEX_BITS) | index;
    }
    if (!isSorted) {
      sortInPlace(indexes, count);
      for (let rank = 1; rank < count; rank += 1) {
        if ((indexes[rank - 1] as number) >> INDEX_BITS === (indexes[rank] as number) >> INDEX_BITS)
          return false;
      }
    }
    if (required < (rule?.required.length ?? 0)) return false;
    for (let rank = 0; rank < count; rank += 1) indexes[rank] = (indexes[rank] as number) & INDEX_MASK;
    this.count = count;
    this.isSorted = isSorted;
    if (rule?.isItem === true) this.#findParts(members, first, keys);
    this.#isValid = true;
    return true;
  }

  /** Sorts as {@link sort} by the texts of the keys, which have no escapes, if only the rule's keys are known. */
  sortByText(
    members: MemberRanges,
    bytes: Uint8Array,
    first: number,
    keys: readonly RankedKey[],
    rule: OrderRule | null,
  ): boolean {
    this.#isValid = false;
    const count = members.count - first;
    this.#reserve(count);
    const { indexes } = this;
    let isSorted = true;
    let required = 0;
    for (let index = 0; index < count; index += 1) {
      if (keys[members.key(first + index)]?.isRequired === true) required += 1;
      indexes[index] = index;
      isSorted &&= index === 0 || members.compareKeys(bytes, first + index - 1, first + index) < 0;
    }
    if (!isSorted) {
      const compare = (a: number, b: number): number => members.compareKeys(bytes, first + a, first + b);
      indexes.subarray(0, count).sort(compare);
      for (let rank = 1; rank < count; rank += 1) {
        if (compare(indexes[rank - 1] as number, indexes[rank] as number) === 0) return false;
      }
    }
    if (required < (rule?.required.length ?? 0)) return false;
    this.count = count;
    this.isSorted = isSorted;
    if (rule?.isItem === true) this.#findParts(members, first, keys);
    return true;
  }

  #reserve(count: number): void {
    if (this.indexes.length >= count) return;
    this.indexes = new Int32Array(2 * count);
    this.others = new Int32Array(2 * count);
  }

  #findParts(members: MemberRanges, first: number, keys: readonly RankedKey[]): void {
    const { indexes, others, count } = this;
    this.type = -1;
    this.answer = -1;
    this.assets = -1;
    this.checker = -1;
    this.othersCount = 0;
    this.othersRank = -1;
    for (let rank = 0; rank < count; rank += 1) {
      const index = indexes[rank] as number;
      const key = keys[members.key(first + index)]?.key;
      if (key === 'answer') this.answer = index;
      else if (key === 'assets') this.assets = index;
      else if (key === 'checker') this.checker = index;
      else {
        if (key === 'type') this.type = index;
        others[this.othersCount] = index;
        this.othersCount += 1;
        if (this.othersRank === -1) this.othersRank = rank;
        continue;
      }
      // A part after another member.
      if (this.othersCount > 0) this.othersRank = count;
    }
    if (this.othersRank === count) this.othersRank = -1;
  }
}

function sortInPlace(values: Int32Array, count: number): void {
  if (count > MAX_INSERTION) {
    values.subarray(0, count).sort();
    return;
  }
  for (let index = 1; index < count; index += 1) {
    const value = values[index] as number;
    let at = index;
    for (; at > 0 && (values[at - 1] as number) > value; at -= 1) values[at] = values[at - 1] as number;
    values[at] = value;
  }
}

/** Shorter pieces are copied faster by a loop than by a call. */
const SHORT_BYTES = 16;

/** Copies a range of a buffer to `to`, and gives the position behind the copy. */
export function copyRange(bytes: Uint8Array, to: number, start: number, end: number): number {
  if (end - start > SHORT_BYTES) {
    bytes.copyWithin(to, start, end);
    return to + end - start;
  }
  let position = to;
  for (let from = start; from < end; from++) bytes[position++] = bytes[from] as number;
  return position;
}
