import { sha256Into } from '#native';
import { CanonicalWriter } from '../json/canonical/canonical-json.ts';
import { isJsonObject, type JsonInput, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { hashView } from './hash-view.ts';
import type { ItemRanges } from './item-ranges.ts';

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

/** An encoded item as UTF-8. */
export interface EncodedItemBytes extends Readonly<Omit<ItemRanges, 'setRanges'>> {
  /** 32 bytes in a separate buffer, which the encoder reuses for the next item. */
  readonly itemHash: Uint8Array;
}

/** Encodes items one after another. */
export interface ItemEncoder {
  /**
   * Encodes an item into the encoder's own buffers: the result is valid until the next call.
   *
   * @param expectedBytes length of the item's canonical text, if it is known
   */
  encode(item: JsonObject, expectedBytes?: number): EncodedItemBytes;
  /** Frees the buffers that a large item made grow. The last result is no longer valid. */
  release(): void;
}

/**
 * Makes an encoder for many items. It does what `encodeItem` does, but the parts are bytes in a reused buffer, so that no
 * strings are made.
 *
 * @param maxItemBytes bounds its memory: encoding a much longer item ends with `line_too_long`
 */
export function createItemEncoder(maxItemBytes: number = Number.POSITIVE_INFINITY): ItemEncoder {
  const writer = new CanonicalWriter();
  // The text of an item, and once more without its answer, checker and assets.
  writer.maxBytes = 2 * maxItemBytes;
  const itemHash = new Uint8Array(HASH_BYTES);
  return {
    encode(item, expectedBytes = 0) {
      writer.clear();
      writer.reserve(expectedBytes);
      const parts = encodeParts(item, writer, itemHash);
      const { whole, type, payload, answer, checker, assets, assetCount } = parts;
      return {
        bytes: writer.bytes(0, writer.length),
        itemStart: whole.start,
        itemEnd: whole.end,
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
    release: () => writer.clear(),
  };
}

const HASH_BYTES = 32;

let spareWriter: CanonicalWriter | null = null;

/**
 * Encodes an item in its stored parts and hashes it. `joinItem` joins the parts again.
 *
 * @param item as `parseItem` gives it: the types are not checked again, and nothing is normalised
 * @throws JsonlError as `canonicalJson` does
 *
 * @example encodeItem({ id: 1, answer: '4' }).payload // '{"id":1}'
 */
export function encodeItem(item: JsonObject): EncodedItem {
  const writer = spareWriter ?? new CanonicalWriter();
  spareWriter = null;
  try {
    const itemHash = new Uint8Array(HASH_BYTES);
    const parts = encodeParts(item, writer, itemHash);
    const { whole, type, assetCount, payload, answer, checker, assets } = parts;
    const text = (range: Range): string => writer.text(range.start, range.end);
    return {
      itemHash,
      type: type === null ? DEFAULT_ITEM_TYPE : text(type),
      payload: text(payload),
      answer: answer && text(answer),
      checker: checker && text(checker),
      assets: assets && text(assets),
      assetCount,
      byteLength: whole.end - whole.start,
    };
  } finally {
    writer.clear();
    spareWriter = writer;
  }
}

/**
 * The length of a value's canonical text in bytes.
 *
 * @param maxBytes beyond which writing ends
 * @throws JsonlError as `canonicalJson` does, `line_too_long`
 */
export function canonicalByteLength(value: JsonInput, maxBytes: number = Number.POSITIVE_INFINITY): number {
  const writer = spareWriter ?? new CanonicalWriter();
  spareWriter = null;
  try {
    writer.maxBytes = maxBytes;
    writer.write(value);
    return writer.length;
  } finally {
    writer.maxBytes = Number.POSITIVE_INFINITY;
    writer.clear();
    spareWriter = writer;
  }
}

interface Range {
  start: number;
  end: number;
}

interface EncodedParts {
  readonly whole: Range;
  readonly type: Range | null;
  readonly payload: Range;
  readonly answer: Range | null;
  readonly checker: Range | null;
  readonly assets: Range | null;
  readonly assetCount: number;
}

/** Writes an item into an empty writer, and its hash into `itemHash`. */
function encodeParts(item: JsonObject, writer: CanonicalWriter, itemHash: Uint8Array): EncodedParts {
  const view = hashView(item);
  if (view !== item) {
    // Only the hash needs this text: the item's own text replaces it, so that memory never holds both.
    writer.write(view);
    sha256Into(writer.bytes(0, writer.length), itemHash);
    writer.truncate(0);
  }
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

  if (view === item) sha256Into(writer.bytes(0, writer.length), itemHash);
  return {
    whole,
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

/** Entries in the `assets` of an item. */
export function countAssets(assets: JsonValue | undefined): number {
  if (Array.isArray(assets)) return assets.length;
  return isJsonObject(assets) ? Object.keys(assets).length : 0;
}
