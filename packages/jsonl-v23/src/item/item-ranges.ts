/**
 * An item in canonical form, part by part, as ranges of one buffer (see `EncodedItem`). A part that is absent starts at
 * -1. All of it is valid until the next item is encoded.
 */
export interface ItemRanges {
  readonly bytes: Uint8Array;
  /** The whole item. */
  readonly itemStart: number;
  readonly itemEnd: number;
  /** The type, without its quotes. */
  readonly typeStart: number;
  readonly typeEnd: number;
  /** All keys but the following. */
  readonly payloadStart: number;
  readonly payloadEnd: number;
  readonly answerStart: number;
  readonly answerEnd: number;
  readonly checkerStart: number;
  readonly checkerEnd: number;
  readonly assetsStart: number;
  readonly assetsEnd: number;
}

/** The ranges of one item after another. */
export class ReusableItemRanges implements ItemRanges {
  bytes: Uint8Array = new Uint8Array();
  itemStart = 0;
  itemEnd = 0;
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

  /** Takes over other ranges. */
  setRanges(from: ItemRanges): void {
    this.bytes = from.bytes;
    this.itemStart = from.itemStart;
    this.itemEnd = from.itemEnd;
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
