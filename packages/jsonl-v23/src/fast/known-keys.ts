import { ITEM_SCHEMA } from '../item/item.ts';
import { compileRule, KIND, type ValueRule } from '../item/value-rule.ts';
import { ASCII } from '../json/ascii.ts';

const { COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;

/** Objects with more keys are left to the reference path. */
export const MAX_OBJECT_KEYS = 256;
/** Known keys of one node. With more, keys are data, such as ids, and knowing them is of no use. */
const MAX_NODE_KEYS = 256;
/** Slots that are searched for a key, so that keys which are made to collide cost no more than others. */
const MAX_PROBES = 16;
const INITIAL_SLOTS = 16;

/** What the fast path has to know of a value besides its kinds. */
export interface FastRule extends ValueRule {
  readonly members: ReadonlyMap<string, FastRule>;
  readonly items: FastRule | null;
  readonly others?: FastRule | undefined;
  /** Whether it is a URL. The reference path reads a data: URI, and what may be a link to a file of a service. */
  readonly isUrl?: boolean | undefined;
  /** Whether its entries are assets, which are counted. */
  readonly hasAssets?: boolean | undefined;
  /** Whether the object is an item, whose parts are found. */
  readonly isItem?: boolean | undefined;
}

export class KnownKey {
  readonly key: string;
  /** The key as it is written, with its quotes, in UTF-8. */
  readonly quoted: Uint8Array;
  readonly id: number;
  readonly value: ShapeNode;
  readonly isRequired: boolean;
  /** Position among the node's keys in canonical order. */
  rank = 0;
  /** The key that followed this one in the last object that had it. */
  next: KnownKey | null = null;

  constructor(key: string, quoted: Uint8Array, id: number, value: ShapeNode, isRequired: boolean) {
    this.key = key;
    this.quoted = quoted;
    this.id = id;
    this.value = value;
    this.isRequired = isRequired;
  }
}

/**
 * What is known about one node of the shape of items, such as `/meta` or the items of `/tags`: the rule for its values,
 * the keys of its objects so far, and the order of the last object's. Objects mostly have the keys of the object
 * before, in the same sequence: then each key is compared with one other, and the order is known. Any other key is
 * found by its hash.
 */
export class ShapeNode {
  readonly rule: FastRule | null;
  first: KnownKey | null = null;
  readonly order: KeyOrder = new KeyOrder();
  #items: ShapeNode | null = null;
  #keys: KnownKey[] = [];
  /** In canonical order. */
  #sorted: KnownKey[] = [];
  /** Indexes of keys plus one by their hashes; 0 for a free slot. */
  #slots: Uint16Array = NO_SLOTS;
  #areKeysData = false;
  /** Whether keys that the rule does not name share a node for their values, so that knowing keys costs no more at depth. */
  readonly #isShared: boolean;
  #others: ShapeNode | null = null;

  constructor(rule: FastRule | null, isShared: boolean) {
    this.rule = rule;
    this.#isShared = isShared;
  }

  get items(): ShapeNode {
    this.#items ??= new ShapeNode(this.rule?.items ?? null, this.#isShared);
    return this.#items;
  }

  /** What is known about the values of keys that have no node of their own. */
  get sharedValue(): ShapeNode {
    this.#others ??= new ShapeNode(this.rule?.others ?? null, this.#isShared);
    return this.#others;
  }

  /** Whether the keys of its objects are data: then only the keys of the rule are known, and members are sorted by bytes. */
  get areKeysData(): boolean {
    return this.#areKeysData;
  }

  find(bytes: Uint8Array, start: number, end: number): KnownKey | null {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hashOf(bytes, start, end) & mask;
    for (let probe = 0; probe < MAX_PROBES; probe += 1) {
      const index = slots[slot] as number;
      if (index === 0) return null;
      const known = this.#keys[index - 1] as KnownKey;
      if (known.quoted.length === end - start && isAt(known.quoted, bytes, start)) return known;
      slot = (slot + 1) & mask;
    }
    return null;
  }

  /** Null if there are too many keys: then it forgets those that the rule does not name, and keys count as data. */
  add(quoted: Uint8Array): KnownKey | null {
    const key = new TextDecoder('utf-8', { ignoreBOM: true }).decode(quoted.subarray(1, -1));
    const keys = this.#keys;
    const named = this.rule?.members.get(key);
    const value =
      named === undefined && this.#isShared
        ? this.sharedValue
        : new ShapeNode(named ?? this.rule?.others ?? null, this.#isShared);
    const isRequired = this.rule?.required.includes(key) ?? false;
    const added = new KnownKey(key, quoted, keys.length, value, isRequired);
    keys.push(added);
    const isStored = 2 * keys.length > this.#slots.length ? this.#grow() : this.#store(added);
    if (!isStored) return this.#forget();
    this.#rank(added);
    return added;
  }

  follow(previous: KnownKey | null, key: KnownKey): void {
    if (previous === null) this.first = key;
    else previous.next = key;
    this.order.invalidate();
  }

  /** The canonical order of the members from `first` on; null if two have the same key, or a required key is missing. */
  orderOf(members: MemberRanges, bytes: Uint8Array, first: number): KeyOrder | null {
    const { order, rule } = this;
    const isOrdered = this.#areKeysData
      ? order.sortByText(members, bytes, first, this.#keys, rule)
      : order.holdsFor(members.count - first) || order.sort(members, first, this.#keys, rule);
    return isOrdered ? order : null;
  }

  #grow(): boolean {
    if (this.#keys.length > MAX_NODE_KEYS) return false;
    this.#slots = new Uint16Array(Math.max(INITIAL_SLOTS, 2 * this.#slots.length));
    return this.#keys.every((key) => this.#store(key));
  }

  #store(key: KnownKey): boolean {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hashOf(key.quoted, 0, key.quoted.length) & mask;
    for (let probe = 0; probe < MAX_PROBES; probe += 1) {
      if (slots[slot] === 0) {
        slots[slot] = key.id + 1;
        return true;
      }
      slot = (slot + 1) & mask;
    }
    return false;
  }

  #rank(added: KnownKey): void {
    const sorted = this.#sorted;
    let low = 0;
    for (let high = sorted.length; low < high; ) {
      const middle = (low + high) >> 1;
      // Comparison of strings is by UTF-16 code units.
      if ((sorted[middle] as KnownKey).key < added.key) low = middle + 1;
      else high = middle;
    }
    sorted.splice(low, 0, added);
    for (let rank = low; rank < sorted.length; rank += 1) (sorted[rank] as KnownKey).rank = rank;
  }

  #forget(): null {
    this.first = null;
    this.#keys = [];
    this.#sorted = [];
    this.#slots = NO_SLOTS;
    this.order.invalidate();
    this.#areKeysData = true;
    for (const name of this.rule?.members.keys() ?? []) this.add(new TextEncoder().encode(`"${name}"`));
    return null;
  }
}

/** The only slot is free. */
const NO_SLOTS: Uint16Array = new Uint16Array(1);

export function isAt(quoted: Uint8Array, bytes: Uint8Array, position: number): boolean {
  for (let index = 1; index < quoted.length; index += 1) {
    if (bytes[position + index] !== quoted[index]) return false;
  }
  return true;
}

/** FNV-1a, with its high bits mixed into the low ones. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

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

const NONE: Int32Array = new Int32Array(0);
/** An object has at most 256 members, and a node fewer keys than what is left of 31 bits. */
const INDEX_BITS = 8;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
/** Beyond, sorting by insertion takes longer than the engine's sort. */
const MAX_INSERTION = 24;

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
  sort(members: MemberRanges, first: number, keys: readonly KnownKey[], rule: FastRule | null): boolean {
    this.#isValid = false;
    const count = members.count - first;
    this.#reserve(count);
    const { indexes } = this;
    let isSorted = true;
    let lastRank = -1;
    let required = 0;
    for (let index = 0; index < count; index += 1) {
      const key = keys[members.key(first + index)] as KnownKey;
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
    keys: readonly KnownKey[],
    rule: FastRule | null,
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

  #findParts(members: MemberRanges, first: number, keys: readonly KnownKey[]): void {
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

/** A kind that no value has: the reference path reads whatever has this rule. */
const NOTHING: FastRule = { ...compileRule({}), kinds: 0 } as FastRule;

function withMembers(rule: ValueRule, members: Readonly<Record<string, FastRule>>): FastRule {
  const own = [...(rule as FastRule).members, ...Object.entries(members)];
  return { ...rule, members: new Map(own) } as FastRule;
}

/** An asset that is a link already: content, a file or a short form would be normalised. */
const ASSET: FastRule = withMembers(compileRule({ type: 'object' }), {
  mime_type: compileRule({ type: 'string' }) as FastRule,
  url: { ...(compileRule({ type: ['string', 'null'] }) as FastRule), isUrl: true },
  content_type: NOTHING,
  encoding: NOTHING,
  data: NOTHING,
  path: NOTHING,
});

/** The schema's rule, without anything that the reference path has to normalise. */
export const ITEM_RULE: FastRule = (() => {
  const rule = compileRule(ITEM_SCHEMA) as FastRule;
  const { assets, checker } = Object.fromEntries(rule.members);
  if (assets === undefined || checker === undefined)
    throw new Error('The schema has no assets or no checker.');
  return {
    ...withMembers(rule, {
      assets: { ...assets, items: ASSET, others: ASSET, hasAssets: true },
      checker: withMembers(
        { ...checker, kinds: KIND.string | KIND.null | KIND.object },
        {
          encoding: NOTHING,
          path: NOTHING,
          url: { ...(compileRule({}) as FastRule), isUrl: true },
        },
      ),
    }),
    isItem: true,
  };
})();

/** Keys, besides those of {@link ITEM_RULE}, of items that are left to the reference path. */
export interface RefusedKeys {
  readonly item: readonly string[];
  readonly inputs: readonly string[];
  readonly checker: readonly string[];
}

export function itemRuleWithout(refused: RefusedKeys): FastRule {
  const without = (rule: FastRule | undefined, keys: readonly string[]): FastRule =>
    withMembers(rule ?? ITEM_RULE, Object.fromEntries(keys.map((key) => [key, NOTHING])));
  const { members } = ITEM_RULE;
  const parts = {
    inputs: without(members.get('inputs'), refused.inputs),
    checker: without(members.get('checker'), refused.checker),
  };
  return without(withMembers(ITEM_RULE, parts), refused.item);
}
