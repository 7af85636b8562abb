import { sha256 } from '#sha256';
import { CanonicalWriter } from './canonical-writer.ts';
import { hashView } from './hash-view.ts';
import type { Item } from './item.ts';
import { isJsonObject, type JsonValue } from './json-value.ts';

/** The type of an item that states none. */
export const DEFAULT_ITEM_TYPE = 'freeform';

/** An item as it is stored: canonical text in four parts, and its hash. Null parts are absent keys. */
export interface EncodedItem {
  /** 32 bytes, see `itemHash`. */
  itemHash: Uint8Array;
  /** Canonical JSON text of the item's type, without its quotes; `freeform` when the item states none. */
  type: string;
  /** All other keys: the canonical text of an object. */
  payload: string;
  /** Canonical text of `answer`: null when the key is absent, `'null'` when its value is null. */
  answer: string | null;
  checker: string | null;
  assets: string | null;
  /** Entries in `assets`. */
  assetCount: number;
}

/** The same with the parts as UTF-8. */
export interface EncodedItemBytes {
  /** The canonical text of the whole item. */
  whole: Uint8Array;
  itemHash: Uint8Array;
  type: string;
  payload: Uint8Array;
  answer: Uint8Array | null;
  checker: Uint8Array | null;
  assets: Uint8Array | null;
  assetCount: number;
}

/** Encodes items one after another. */
export interface ItemEncoder {
  /** The parts are views of the encoder's own buffer: copy them before the next call. */
  encode(item: Item): EncodedItemBytes;
}

/**
 * Makes an encoder for many items: as `encodeItem`, but the parts are bytes in a buffer that is used again, so
 * that nothing is turned into strings and back.
 */
export function createItemEncoder(): ItemEncoder {
  const writer = new CanonicalWriter();
  return {
    encode(item) {
      writer.clear();
      const { whole, itemHash, type, assetCount, payload, answer, checker, assets } = encodeParts(
        item,
        writer,
      );
      const bytes = (range: Range): Uint8Array => writer.bytes(range.start, range.end);
      return {
        whole: bytes(whole),
        itemHash,
        type,
        payload: bytes(payload),
        answer: answer && bytes(answer),
        checker: checker && bytes(checker),
        assets: assets && bytes(assets),
        assetCount,
      };
    },
  };
}

let spareWriter: CanonicalWriter | null = null;

/**
 * Writes an item in its stored parts and hashes it. Every part is made canonical once, and the hash is taken over
 * the same text. `joinItem` puts the parts together again.
 *
 * Throws JsonlError as `canonicalJson` does.
 *
 * @example encodeItem({ id: 1, answer: '4' }).payload // '{"id":1}'
 */
export function encodeItem(item: Item): EncodedItem {
  const writer = spareWriter ?? new CanonicalWriter();
  spareWriter = null;
  try {
    const { itemHash, type, assetCount, payload, answer, checker, assets } = encodeParts(item, writer);
    const text = (range: Range): string => writer.text(range.start, range.end);
    return {
      itemHash,
      type,
      payload: text(payload),
      answer: answer && text(answer),
      checker: checker && text(checker),
      assets: assets && text(assets),
      assetCount,
    };
  } finally {
    writer.clear();
    spareWriter = writer;
  }
}

interface Range {
  start: number;
  end: number;
}

interface EncodedParts {
  whole: Range;
  itemHash: Uint8Array;
  type: string;
  payload: Range;
  answer: Range | null;
  checker: Range | null;
  assets: Range | null;
  assetCount: number;
}

function encodeParts(item: Item, writer: CanonicalWriter): EncodedParts {
  let answer: Range | null = null;
  let checker: Range | null = null;
  let assets: Range | null = null;
  const others: Range[] = [];
  writer.writeObject(item, (key, start, valueStart, end) => {
    if (key === 'answer') answer = { start: valueStart, end };
    else if (key === 'checker') checker = { start: valueStart, end };
    else if (key === 'assets') assets = { start: valueStart, end };
    else {
      // Members that follow one another are one range, with the comma between them.
      const last = others.at(-1);
      if (last !== undefined && last.end + 1 === start) last.end = end;
      else others.push({ start, end });
    }
  });
  const whole = { start: 0, end: writer.length };

  const view = hashView(item);
  let hashed = whole;
  if (view !== item) {
    writer.write(view);
    hashed = { start: whole.end, end: writer.length };
  }
  return {
    whole,
    itemHash: sha256(writer.bytes(hashed.start, hashed.end)),
    type: typeText(item['type']),
    payload: answer || checker || assets ? writePayload(others, writer) : whole,
    answer,
    checker,
    assets,
    assetCount: countAssets(item['assets']),
  };
}

function writePayload(members: readonly Range[], writer: CanonicalWriter): Range {
  const start = writer.length;
  writer.writeByte(123);
  for (const [index, member] of members.entries()) {
    if (index > 0) writer.writeByte(44);
    writer.writeRange(member.start, member.end);
  }
  writer.writeByte(125);
  return { start, end: writer.length };
}

function typeText(type: JsonValue | undefined): string {
  if (typeof type !== 'string') return DEFAULT_ITEM_TYPE;
  // ECMAScript writes a string as RFC 8785 does, lone surrogates included.
  return /^[\w -]*$/.test(type) ? type : JSON.stringify(type).slice(1, -1);
}

function countAssets(assets: JsonValue | undefined): number {
  if (Array.isArray(assets)) return assets.length;
  return isJsonObject(assets) ? Object.keys(assets).length : 0;
}
