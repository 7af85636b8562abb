import { sha256Into } from '#sha256';
import { assetEntries, type FileReference, fileReferences, isEmbeddedChecker } from '../item/asset.ts';
import { checkItemSize } from '../item/embedded-size.ts';
import { createItemEncoder, type EncodedItemBytes, type ItemEncoder } from '../item/encode-item.ts';
import type { Item } from '../item/item.ts';
import type { ItemRanges } from '../item/item-ranges.ts';
import { getMember } from '../json/json-value.ts';
import type { Place } from '../source-location.ts';

/** An item of a line or a row, encoded, and what it has to do with files. */
export interface EncodedLine extends EncodedItemBytes {
  /** 1-based line of the file; of a row, 0. */
  readonly line: number;
  /** Where the line begins and ends in the batch, its line feed apart; of a row, 0. */
  readonly lineStart: number;
  readonly lineEnd: number;
  /** Whether the item names files of its archive, which have to be put in before it is encoded. */
  readonly needsFiles: boolean;
  /** The files that it names. */
  readonly references: readonly FileReference[];
  /** Whether the item holds files, as content of assets or of its checker. */
  readonly embedsFiles: boolean;
}

const HASH_BYTES = 32;
const NO_REFERENCES: readonly FileReference[] = [];

/** The one object that an encoder gives again and again, with ever other values. */
export class LineSlot implements EncodedLine {
  bytes: Uint8Array = new Uint8Array();
  wholeStart = 0;
  wholeEnd = 0;
  typeStart = -1;
  typeEnd = -1;
  payloadStart = 0;
  payloadEnd = 0;
  answerStart = -1;
  answerEnd = -1;
  checkerStart = -1;
  checkerEnd = -1;
  assetsStart = -1;
  assetsEnd = -1;
  assetCount = 0;
  itemHash: Uint8Array = new Uint8Array(HASH_BYTES);
  line = 0;
  lineStart = 0;
  lineEnd = 0;
  needsFiles = false;
  references: readonly FileReference[] = NO_REFERENCES;
  embedsFiles = false;
  readonly #valueEncoder: ItemEncoder = createItemEncoder();

  /** Takes an item whose ranges are known, and which has nothing to do with files: its whole text is hashed. */
  takeRanges(ranges: ItemRanges): void {
    this.#copyRanges(ranges);
    sha256Into(this.bytes.subarray(this.wholeStart, this.wholeEnd), this.itemHash);
    this.assetCount = 0;
    this.needsFiles = false;
    this.references = NO_REFERENCES;
    this.embedsFiles = false;
  }

  /**
   * Takes an item as a value.
   *
   * @throws JsonlError `line_too_long` for an item that refers to too many files, before it is encoded
   */
  takeItem(item: Item, place?: Place): void {
    this.references = fileReferences(item);
    checkItemSize(0, this.references.length, { place });
    const encoded = this.#valueEncoder.encode(item);
    this.#copyRanges(encoded);
    this.itemHash.set(encoded.itemHash);
    this.assetCount = encoded.assetCount;
    this.needsFiles = this.references.length > 0;
    this.embedsFiles =
      assetEntries(item).some(({ entry }) => Object.hasOwn(entry, 'data')) ||
      isEmbeddedChecker(getMember(item, 'checker'));
  }

  /** Frees what a large item made grow. */
  release(): void {
    this.bytes = new Uint8Array();
    this.#valueEncoder.release();
  }

  #copyRanges(from: ItemRanges): void {
    this.bytes = from.bytes;
    this.wholeStart = from.wholeStart;
    this.wholeEnd = from.wholeEnd;
    this.typeStart = from.typeStart;
    this.typeEnd = from.typeEnd;
    this.payloadStart = from.payloadStart;
    this.payloadEnd = from.payloadEnd;
    this.answerStart = from.answerStart;
    this.answerEnd = from.answerEnd;
    this.checkerStart = from.checkerStart;
    this.checkerEnd = from.checkerEnd;
    this.assetsStart = from.assetsStart;
    this.assetsEnd = from.assetsEnd;
  }
}
