import { sha256 } from '#native';
import { FastItemEncoder } from '../fast/fast-item-encoder.ts';
import { itemRuleWithout, type RefusedKeys } from '../fast/known-keys.ts';
import { ItemRanges } from '../item/encode-item.ts';
import { joinBytes } from '../json/bytes.ts';

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

/** Encodes single lines that the fast path takes, and collects them. */
export class PlainLineCollector {
  readonly #encoder: FastItemEncoder;
  readonly #item: ItemRanges = new ItemRanges();
  #lines: Uint8Array[] = [];
  #hashes: Uint8Array[] = [];
  #byteLength = 0;

  /** @param refused keys of items that it does not take */
  constructor(refused: RefusedKeys) {
    this.#encoder = new FastItemEncoder(itemRuleWithout(refused));
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  get isFull(): boolean {
    return this.#byteLength >= BLOCK_BYTES;
  }

  /** Returns false, and adds nothing, for a line that is left to the reference path or longer than `maxBytes`. */
  add(line: Uint8Array, maxDepth: number, maxBytes: number): boolean {
    this.#encoder.load(line, maxDepth);
    const lineEnd = this.#encoder.encode(0, this.#item);
    const { bytes, itemStart, itemEnd } = this.#item;
    const byteLength = itemEnd - itemStart;
    if (lineEnd < line.byteLength || byteLength > maxBytes) return false;
    const item = bytes.subarray(itemStart, itemEnd);
    this.#lines.push(item.slice(), LINE_FEED);
    this.#hashes.push(sha256(item));
    this.#byteLength += byteLength + 1;
    return true;
  }

  take(): PlainLines {
    const [bytes, itemHashes] = [joinBytes(this.#lines), joinBytes(this.#hashes)];
    const itemCount = this.#hashes.length;
    this.#lines = [];
    this.#hashes = [];
    this.#byteLength = 0;
    return { bytes, itemCount, itemHashes };
  }
}

const LINE_FEED: Uint8Array = Uint8Array.of(10);
