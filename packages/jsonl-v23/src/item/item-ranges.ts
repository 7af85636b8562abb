/**
 * An item in canonical form, part by part, as ranges of one buffer (see `EncodedItem`). A part that is absent starts at
 * -1. All of it is void once the next item is encoded.
 */
export interface ItemRanges {
  readonly bytes: Uint8Array;
  /** The whole item. */
  readonly wholeStart: number;
  readonly wholeEnd: number;
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
