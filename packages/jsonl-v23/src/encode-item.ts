import { sha256, sha256Into } from '#sha256';
import { CanonicalWriter } from './canonical-writer.ts';
import { hashView } from './hash-view.ts';
import type { Item } from './item.ts';
import type { ItemRanges } from './item-ranges.ts';
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

/** The same as UTF-8. */
export interface EncodedItemBytes extends ItemRanges {
  /** 32 bytes in a buffer of their own, which the next item takes over. */
  readonly itemHash: Uint8Array;
  readonly assetCount: number;
}

/** Encodes items one after another. */
export interface ItemEncoder {
  /** What it gives lies in the encoder's own buffers: it is void with the next call. */
  encode(item: Item): EncodedItemBytes;
}

/**
 * Makes an encoder for many items: as `encodeItem`, but the parts are bytes in a buffer that is used again, so
 * that nothing is turned into strings and back.
 */
export function createItemEncoder(): ItemEncoder {
  const writer = new CanonicalWriter();
  const itemHash = new Uint8Array(HASH_BYTES);
  return {
    encode(item) {
      writer.clear();
      const { whole, hashed, type, payload, answer, checker, assets, assetCount } = encodeParts(item, writer);
      sha256Into(writer.bytes(hashed.start, hashed.end), itemHash);
      return {
        bytes: writer.bytes(0, writer.length),
        wholeStart: whole.start,
        wholeEnd: whole.end,
        typeStart: type?.start ?? -1,
        typeEnd: type?.end ?? -1,
        payloadStart: payload.start,
        payloadEnd: payload.end,
        answerStart: answer?.start ?? -1,
        answerEnd: answer?.end ?? -1,
        checkerStart: checker?.start ?? -1,
        checkerEnd: checker?.end ?? -1,
        assetsStart: assets?.start ?? -1,
        assetsEnd: assets?.end ?? -1,
        itemHash,
        assetCount,
      };
    },
  };
}

const HASH_BYTES = 32;

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
    const { hashed, type, assetCount, payload, answer, checker, assets } = encodeParts(item, writer);
    const text = (range: Range): string => writer.text(range.start, range.end);
    return {
      itemHash: sha256(writer.bytes(hashed.start, hashed.end)),
      type: type === null ? DEFAULT_ITEM_TYPE : text(type),
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
  /** What the hash is taken over. */
  hashed: Range;
  type: Range | null;
  payload: Range;
  answer: Range | null;
  checker: Range | null;
  assets: Range | null;
  assetCount: number;
}

function encodeParts(item: Item, writer: CanonicalWriter): EncodedParts {
  let type: Range | null = null;
  let answer: Range | null = null;
  let checker: Range | null = null;
  let assets: Range | null = null;
  const others: Range[] = [];
  writer.writeObject(item, (key, start, valueStart, end) => {
    if (key === 'answer') answer = { start: valueStart, end };
    else if (key === 'checker') checker = { start: valueStart, end };
    else if (key === 'assets') assets = { start: valueStart, end };
    else {
      if (key === 'type' && typeof item['type'] === 'string') type = { start: valueStart + 1, end: end - 1 };
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
    hashed,
    type,
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

function countAssets(assets: JsonValue | undefined): number {
  if (Array.isArray(assets)) return assets.length;
  return isJsonObject(assets) ? Object.keys(assets).length : 0;
}
