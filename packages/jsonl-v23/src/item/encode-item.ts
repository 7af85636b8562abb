import { sha256Into } from '#native';
import { CanonicalWriter, withWriter } from '../json/canonical/canonical-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { isEmbeddedChecker, mapEntries } from './asset.ts';

const HASH_BYTES = 32;

/** A canonical item as ranges of one buffer; absent parts start at -1. Valid until the next item is encoded. */
export class ItemRanges {
  bytes: Uint8Array = new Uint8Array();
  itemStart = 0;
  itemEnd = 0;
  /** The type, without its quotes. */
  typeStart = -1;
  typeEnd = -1;
  /** All keys but the following. */
  payloadStart = 0;
  payloadEnd = 0;
  answerStart = -1;
  answerEnd = -1;
  checkerStart = -1;
  checkerEnd = -1;
  assetsStart = -1;
  assetsEnd = -1;
  assetCount = 0;
}

/** An encoded item as UTF-8. */
export class EncodedItemBytes extends ItemRanges {
  readonly itemHash: Uint8Array = new Uint8Array(HASH_BYTES);
}

/** The type of an item without `type`. */
export const DEFAULT_ITEM_TYPE = 'freeform';

/** An item as it is stored: canonical text in four parts, and its hash. A part is null if its key is absent. */
export interface EncodedItem {
  /** 32 bytes, see `itemHash`. */
  readonly itemHash: Uint8Array;
  /** Canonical JSON text of the item's type, without its quotes; `freeform` when the item states none. */
  readonly type: string;
  /** All other keys: the canonical text of an object. */
  readonly payload: string;
  /** Canonical text of `answer`: null when the key is absent, `'null'` when its value is null. */
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
  /** Entries in `assets`. */
  readonly assetCount: number;
  /** Bytes of the canonical text of the whole item. */
  readonly byteLength: number;
}

/**
 * Encodes items one after another, as `encodeItem` does, but the parts are bytes in a reused buffer, so that no strings
 * are made.
 */
export class ItemEncoder {
  readonly #writer: CanonicalWriter = new CanonicalWriter();
  readonly #own: EncodedItemBytes = new EncodedItemBytes();

  /** @param maxItemBytes bounds its memory: encoding a much longer item ends with `line_too_long` */
  constructor(maxItemBytes: number = Number.POSITIVE_INFINITY) {
    // The text of an item, and once more without its answer, checker and assets.
    this.#writer.maxBytes = 2 * maxItemBytes;
  }

  /**
   * Encodes an item into the encoder's own buffer: the result is valid until the next call.
   *
   * @param expectedBytes length of the item's canonical text, if it is known
   * @param target gets the result; by default an object of the encoder's
   */
  encode(item: JsonObject, expectedBytes = 0, target: EncodedItemBytes = this.#own): EncodedItemBytes {
    this.#writer.clear();
    this.#writer.reserve(expectedBytes);
    encodeParts(item, this.#writer, target);
    return target;
  }

  /** Frees the buffers that a large item made grow. The last result is no longer valid. */
  release(): void {
    this.#writer.clear();
  }
}

/**
 * Encodes an item in its stored parts and hashes it. `joinItem` joins the parts again.
 *
 * @param item as `parseItem` gives it: the types are not checked again, and nothing is normalised
 * @throws JsonlError as `canonicalJson` does
 *
 * @example encodeItem({ id: 1, answer: '4' }).payload // '{"id":1}'
 */
export function encodeItem(item: JsonObject): EncodedItem {
  return withWriter((writer) => {
    const encoded = new EncodedItemBytes();
    encodeParts(item, writer, encoded);
    const text = (start: number, end: number): string | null =>
      start === -1 ? null : writer.text(start, end);
    return {
      itemHash: encoded.itemHash,
      type: text(encoded.typeStart, encoded.typeEnd) ?? DEFAULT_ITEM_TYPE,
      payload: writer.text(encoded.payloadStart, encoded.payloadEnd),
      answer: text(encoded.answerStart, encoded.answerEnd),
      checker: text(encoded.checkerStart, encoded.checkerEnd),
      assets: text(encoded.assetsStart, encoded.assetsEnd),
      assetCount: encoded.assetCount,
      byteLength: encoded.itemEnd,
    };
  });
}

function encodeParts(item: JsonObject, writer: CanonicalWriter, target: EncodedItemBytes): void {
  const view = hashView(item);
  if (view !== item) {
    // Only the hash needs this text: the item's own text replaces it, so that memory never holds both.
    writer.write(view);
    sha256Into(writer.bytes(0, writer.length), target.itemHash);
    writer.truncate(0);
  }
  Object.assign(target, NO_PARTS);
  const others: { start: number; end: number }[] = [];
  writer.writeObject(item, (key, start, valueStart, end) => {
    if (key === 'answer' || key === 'checker' || key === 'assets') {
      target[`${key}Start`] = valueStart;
      target[`${key}End`] = end;
      return;
    }
    if (key === 'type' && typeof item['type'] === 'string') {
      target.typeStart = valueStart + 1;
      target.typeEnd = end - 1;
    }
    // Members that follow one another are one range, with the comma between them.
    const last = others.at(-1);
    if (last !== undefined && last.end + 1 === start) last.end = end;
    else others.push({ start, end });
  });
  target.itemEnd = writer.length;
  if (view === item) sha256Into(writer.bytes(0, writer.length), target.itemHash);
  const isWhole = target.answerStart + target.checkerStart + target.assetsStart === -3;
  if (!isWhole) {
    target.payloadStart = writer.length;
    writer.writeByte(123);
    for (const [index, { start, end }] of others.entries()) {
      if (index > 0) writer.writeByte(44);
      writer.writeRange(start, end);
    }
    writer.writeByte(125);
  }
  target.payloadEnd = writer.length;
  target.bytes = writer.bytes(0, writer.length);
  target.assetCount = countAssets(item['assets']);
}

const NO_PARTS: ItemRanges = new ItemRanges();

/** Entries in the `assets` of an item. */
export function countAssets(assets: JsonValue | undefined): number {
  if (Array.isArray(assets)) return assets.length;
  return isJsonObject(assets) ? Object.keys(assets).length : 0;
}

/** The part of an item that is hashed: without `path` where content is embedded, as that path is transport. */
export function hashView(item: JsonObject): JsonObject {
  let view = item;
  if (Object.hasOwn(item, 'assets')) {
    const assets = mapEntries(item['assets'] as JsonValue, withoutPath);
    if (assets !== item['assets']) view = { ...view, assets };
  }
  if (Object.hasOwn(item, 'checker')) {
    const checker = item['checker'] as JsonValue;
    const hashed = isEmbeddedChecker(checker) ? withoutPath(checker) : checker;
    if (hashed !== checker) view = { ...view, checker: hashed };
  }
  return view;
}

function withoutPath(entry: JsonValue): JsonValue {
  if (!isJsonObject(entry) || !Object.hasOwn(entry, 'data') || !Object.hasOwn(entry, 'path')) return entry;
  const { path: _, ...rest } = entry;
  return rest;
}
