import type { MemberRanges } from './member-ranges.ts';

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
  /** The same of all members but `answer`, `assets` and `checker`. */
  others: Int32Array = NONE;
  count = 0;
  othersCount = 0;
  /** Such an index for the parts of an item; -1 if the key is absent. */
  type = -1;
  answer = -1;
  assets = -1;
  checker = -1;
  /** The canonical position from which on all members are others; -1 if they are not the last ones. */
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

  /**
   * Sorts the members from `first` on by the texts of their keys, which have no escapes. Returns false if two have the same key.
   */
  sortByText(members: MemberRanges, bytes: Uint8Array, first: number): boolean {
    this.#isValid = false;
    const count = members.count - first;
    this.#reserve(count);
    const { indexes } = this;
    let isSorted = true;
    for (let index = 0; index < count; index += 1) {
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
    this.count = count;
    this.isSorted = isSorted;
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
      const { key } = keys[members.key(first + index)] as RankedKey;
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
