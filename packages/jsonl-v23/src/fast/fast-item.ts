import { ReusableItemRanges } from '../item/item-ranges.ts';

/** The result of the fast path, reused for each item: ranges, or `fallback` if the reference path must encode the item. */
export class FastItem extends ReusableItemRanges {
  fallback = false;
  assetCount = 0;
  /** Position of the line feed that ends the item's line. */
  lineEnd = 0;
}
