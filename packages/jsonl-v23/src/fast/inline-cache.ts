import type { ValueRule } from '../item/value-rule.ts';

/** Different keys that may follow a key at one location; the oldest is dropped. */
const MAX_TRANSITIONS = 8;
/** Objects with more keys are left to the reference path. */
export const MAX_CACHED_KEYS = 128;

/**
 * What is known about one location in items, such as `/meta` or the items of `/tags`: the rule for its values, and the
 * shapes of its objects so far. Works as the inline caches of JavaScript engines do.
 */
export class InlineCache {
  readonly rule: ValueRule | null;
  /** Precedes the first key of the objects at this location. */
  readonly root: Transition;
  #items: InlineCache | null = null;

  constructor(rule: ValueRule | null) {
    this.rule = rule;
    this.root = new Transition('', new Uint8Array(), null, this);
  }

  /** The cache for the items of arrays at this location. */
  get items(): InlineCache {
    this.#items ??= new InlineCache(this.rule?.items ?? null);
    return this.#items;
  }
}

/**
 * A key of an object, after the keys before it: the path from the root to a transition is the sequence of an object's
 * keys. Objects of one shape take the same path, so that their keys are compared and sorted only once.
 */
export class Transition {
  readonly key: string;
  /** The key as it is written, with its quotes, in UTF-8. */
  readonly quoted: Uint8Array;
  /** Number of keys on the path up to this one. */
  readonly count: number;
  readonly #previous: Transition | null;
  /** The cache of the location of the object. */
  readonly #owner: InlineCache;
  /** The keys that followed this one, the newest first. */
  #next: Transition | null = null;
  #sibling: Transition | null = null;
  #value: InlineCache | null = null;
  #order: KeyOrder | null = null;

  constructor(key: string, quoted: Uint8Array, previous: Transition | null, owner: InlineCache) {
    this.key = key;
    this.quoted = quoted;
    this.count = previous === null ? 0 : previous.count + 1;
    this.#previous = previous;
    this.#owner = owner;
  }

  /** The cache for the values of this key. */
  get value(): InlineCache {
    this.#value ??= new InlineCache(this.#owner.rule?.members.get(this.key) ?? null);
    return this.#value;
  }

  /** The transition to the key whose opening quote is at `position`, if there is one. */
  find(bytes: Uint8Array, position: number): Transition | null {
    let next = this.#next;
    while (next !== null && !isAt(next.quoted, bytes, position)) next = next.#sibling;
    return next;
  }

  /** Adds the transition to a key; null if the key is on the path already, and so is a duplicate. */
  add(key: string, quoted: Uint8Array): Transition | null {
    for (let on: Transition = this; on.#previous !== null; on = on.#previous) {
      if (on.key === key) return null;
    }
    const added = new Transition(key, quoted, this, this.#owner);
    added.#sibling = this.#next;
    this.#next = added;
    let last: Transition = added;
    for (let count = 1; count < MAX_TRANSITIONS && last.#sibling !== null; count++) last = last.#sibling;
    last.#sibling = null;
    return added;
  }

  /** The canonical order of the keys on the path. */
  get order(): KeyOrder {
    this.#order ??= this.#sort();
    return this.#order;
  }

  #sort(): KeyOrder {
    const written: string[] = [];
    for (let on: Transition = this; on.#previous !== null; on = on.#previous) written.push(on.key);
    written.reverse();
    // Array.prototype.sort compares UTF-16 code units.
    const keys = written.toSorted();
    const indexes = keys.map((key) => written.indexOf(key));
    const others = indexes.filter((_, rank) => keys[rank] !== 'answer' && keys[rank] !== 'checker');
    const othersRank = keys.length - others.length;
    const areOthersLast = others.every((member, index) => member === indexes[othersRank + index]);
    return {
      indexes,
      type: written.indexOf('type'),
      answer: written.indexOf('answer'),
      checker: written.indexOf('checker'),
      others,
      othersRank: others.length > 0 && areOthersLast ? othersRank : -1,
      isSorted: indexes.every((index, rank) => index === rank),
      isComplete: this.#owner.rule?.required.every((key) => keys.includes(key)) ?? true,
    };
  }
}

/** The members of an object in canonical order (RFC 8785 section 3.2.3). */
export interface KeyOrder {
  /** For each member its index in the order in which it is written. */
  readonly indexes: readonly number[];
  /** Such an index for the parts of an item; -1 if the key is absent. */
  readonly type: number;
  readonly answer: number;
  readonly checker: number;
  /** The indexes of all members but `answer` and `checker`. */
  readonly others: readonly number[];
  /** The canonical position from which on all members are others; -1 if they are not the last ones. */
  readonly othersRank: number;
  /** Whether the members are written in canonical order. */
  readonly isSorted: boolean;
  /** Whether no required key is missing. */
  readonly isComplete: boolean;
}

function isAt(quoted: Uint8Array, bytes: Uint8Array, position: number): boolean {
  // The first byte is the opening quote.
  for (let index = 1; index < quoted.length; index++) {
    if (bytes[position + index] !== quoted[index]) return false;
  }
  return true;
}
