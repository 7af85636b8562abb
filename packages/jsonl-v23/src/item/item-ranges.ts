/**
 * An item in canonical form, part by part, as ranges of one buffer (see `EncodedItem`). A part that is absent starts at
 * -1. All of it is valid until the next item is encoded.
 */
export class ItemRanges {
  bytes: Uint8Array = new Uint8Array();
  /** The whole item. */
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
  /** Entries in `assets`. */
  assetCount = 0;

  /** Takes over other ranges. */
  setRanges(from: Readonly<Omit<ItemRanges, 'setRanges'>>): void {
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
    this.assetCount = from.assetCount;
  }
}
