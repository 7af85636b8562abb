import { sha256Into } from '#native';
import { FastItemEncoder } from '../fast/fast-item-encoder.ts';
import { itemRuleWithout, type RefusedKeys } from '../fast/known-keys.ts';
import { ItemRanges } from '../item/encode-item.ts';

/** Items without files, in canonical text. */
export interface PlainLines {
  /** Their lines, each with its line feed, in a separate buffer. */
  readonly bytes: Uint8Array;
  readonly itemCount: number;
  /** `itemCount` times 32 bytes. */
  readonly itemHashes: Uint8Array;
}

/** Approximate size of a collected batch of lines. */
const BLOCK_BYTES = 128 * 1024;
const INITIAL_ITEMS = 256;
const HASH_BYTES = 32;
const LINE_FEED = 10;

/** Encodes single lines that the fast path takes, and collects them. */
export class PlainLineCollector {
  readonly #encoder: FastItemEncoder;
  readonly #item: ItemRanges = new ItemRanges();
  #bytes: Uint8Array = new Uint8Array();
  #length = 0;
  #hashes: Uint8Array = new Uint8Array(INITIAL_ITEMS * HASH_BYTES);
  #itemCount = 0;

  /** @param refused keys of items that it does not take */
  constructor(refused: RefusedKeys) {
    this.#encoder = new FastItemEncoder(itemRuleWithout(refused));
  }

  get isEmpty(): boolean {
    return this.#itemCount === 0;
  }

  get isFull(): boolean {
    return this.#length >= BLOCK_BYTES;
  }

  /**
   * Adds the item of a line. Returns false, and adds nothing, if the line is left to the reference path, such as a
   * faulty one, has a refused key, or has a canonical text longer than `maxBytes`.
   */
  add(line: Uint8Array, maxDepth: number, maxBytes: number): boolean {
    const encoder = this.#encoder;
    encoder.load(line, maxDepth);
    const lineEnd = encoder.encode(0, this.#item);
    const { bytes, itemStart, itemEnd } = this.#item;
    const byteLength = itemEnd - itemStart;
    if (lineEnd < line.byteLength || byteLength > maxBytes) return false;
    const item = bytes.subarray(itemStart, itemEnd);
    this.#reserve(byteLength + 1);
    this.#bytes.set(item, this.#length);
    this.#length += byteLength;
    this.#bytes[this.#length] = LINE_FEED;
    this.#length += 1;
    const at = HASH_BYTES * this.#itemCount;
    sha256Into(item, this.#hashes.subarray(at, at + HASH_BYTES));
    this.#itemCount += 1;
    return true;
  }

  /** Removes and returns what was collected. */
  take(): PlainLines {
    const bytes = this.#bytes.subarray(0, this.#length);
    const itemHashes = this.#hashes.slice(0, HASH_BYTES * this.#itemCount);
    const lines = { bytes, itemCount: this.#itemCount, itemHashes };
    this.#bytes = new Uint8Array();
    this.#length = 0;
    this.#itemCount = 0;
    return lines;
  }

  /** Makes room for a line and its hash. */
  #reserve(byteLength: number): void {
    const needed = this.#length + byteLength;
    if (needed > this.#bytes.length) {
      // A block that is not full has room for a usual line beyond it.
      const grown = new Uint8Array(Math.max(needed, Math.ceil(1.25 * BLOCK_BYTES)));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    if (HASH_BYTES * (this.#itemCount + 1) > this.#hashes.length) {
      const grown = new Uint8Array(2 * this.#hashes.length);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
  }
}
