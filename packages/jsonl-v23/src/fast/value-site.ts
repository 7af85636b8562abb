import type { ValueRule } from '../item/value-rule.ts';

/** Keys that may follow one another in different ways at one place before the oldest way is forgotten. */
const MOST_BRANCHES = 8;
/** Objects with more keys are not remembered. */
export const MOST_REMEMBERED_KEYS = 128;

/** A place in values of one kind, such as `/meta` or the items of `/tags`: what it may hold and what it has held. */
export class ValueSite {
  readonly rule: ValueRule | null;
  /** Stands before the first key of the objects at this place. */
  readonly root: KeyNode;
  #items: ValueSite | null = null;

  constructor(rule: ValueRule | null) {
    this.rule = rule;
    this.root = new KeyNode('', new Uint8Array(), null, this);
  }

  /** The place of the items of an array at this place. */
  get items(): ValueSite {
    this.#items ??= new ValueSite(this.rule?.items ?? null);
    return this.#items;
  }
}

/**
 * A key as it was met in an object, behind the keys before it: the path from the root to a node is the sequence of
 * an object's keys. Objects of one shape take the same path, so their keys are told apart and sorted only once.
 */
export class KeyNode {
  readonly key: string;
  /** The key as it is written, quotes included, in UTF-8. */
  readonly quoted: Uint8Array;
  /** Keys on the path up to this one. */
  readonly count: number;
  readonly #previous: KeyNode | null;
  /** The place of the object that the key is in. */
  readonly #owner: ValueSite;
  /** The keys that followed this one, the newest first. */
  #next: KeyNode | null = null;
  #sibling: KeyNode | null = null;
  #value: ValueSite | null = null;
  #order: KeyOrder | null = null;

  constructor(key: string, quoted: Uint8Array, previous: KeyNode | null, owner: ValueSite) {
    this.key = key;
    this.quoted = quoted;
    this.count = previous === null ? 0 : previous.count + 1;
    this.#previous = previous;
    this.#owner = owner;
  }

  /** The place of the key's value. */
  get value(): ValueSite {
    this.#value ??= new ValueSite(this.#owner.rule?.members.get(this.key) ?? null);
    return this.#value;
  }

  /** The key at `position`, where its opening quote is, if it followed this one before. */
  find(bytes: Uint8Array, position: number): KeyNode | null {
    let node = this.#next;
    while (node !== null && !isAt(node.quoted, bytes, position)) node = node.#sibling;
    return node;
  }

  /** Remembers a key behind this one; null where it stands on the path already. */
  add(key: string, quoted: Uint8Array): KeyNode | null {
    for (let node: KeyNode = this; node.#previous !== null; node = node.#previous) {
      if (node.key === key) return null;
    }
    const added = new KeyNode(key, quoted, this, this.#owner);
    added.#sibling = this.#next;
    this.#next = added;
    let last: KeyNode = added;
    for (let branches = 1; branches < MOST_BRANCHES && last.#sibling !== null; branches++)
      last = last.#sibling;
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
    for (let node: KeyNode = this; node.#previous !== null; node = node.#previous) written.push(node.key);
    written.reverse();
    // Array.prototype.sort compares UTF-16 code units.
    const keys = written.toSorted();
    const indexes = keys.map((key) => written.indexOf(key));
    return {
      keys,
      indexes,
      isSorted: indexes.every((index, place) => index === place),
      isComplete: this.#owner.rule?.required.every((key) => keys.includes(key)) ?? true,
    };
  }
}

/** The members of an object in canonical order (RFC 8785 section 3.2.3). */
export interface KeyOrder {
  readonly keys: readonly string[];
  /** For each member its index in the order in which it was written. */
  readonly indexes: readonly number[];
  /** Whether the members were written in canonical order. */
  readonly isSorted: boolean;
  /** Whether every key is there that must be. */
  readonly isComplete: boolean;
}

function isAt(quoted: Uint8Array, bytes: Uint8Array, position: number): boolean {
  // The first byte is the quote that led here.
  for (let index = 1; index < quoted.length; index++) {
    if (bytes[position + index] !== quoted[index]) return false;
  }
  return true;
}
