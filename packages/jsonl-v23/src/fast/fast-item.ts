import { ItemRanges } from '../item/item-ranges.ts';
import type { KeyOrder } from './key-order.ts';
import type { MemberRanges } from './member-ranges.ts';

/** The result of the fast path, reused for each item: ranges, or `fallback` if the reference path must encode the item. */
export class FastItem extends ItemRanges {
  fallback = false;
  /** Position of the line feed that ends the item's line. */
  lineEnd = 0;

  /** Takes the ranges of the type, and of the parts that are stored apart, from the members of an item. */
  setParts(members: MemberRanges, { type, answer, assets, checker }: KeyOrder): void {
    this.typeStart = type === -1 ? -1 : members.valueStart(type) + 1;
    this.typeEnd = type === -1 ? -1 : members.valueEnd(type) - 1;
    this.answerStart = answer === -1 ? -1 : members.valueStart(answer);
    this.answerEnd = answer === -1 ? -1 : members.valueEnd(answer);
    this.assetsStart = assets === -1 ? -1 : members.valueStart(assets);
    this.assetsEnd = assets === -1 ? -1 : members.valueEnd(assets);
    this.checkerStart = checker === -1 ? -1 : members.valueStart(checker);
    this.checkerEnd = checker === -1 ? -1 : members.valueEnd(checker);
  }
}
