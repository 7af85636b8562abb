import type { StoredSection } from '../database/dataset-row.ts';
import { itemTooLarge } from '../database/values.ts';

/** Checks that every item comes, in order, and was read: an export must be complete. */
export class ItemOrder {
  readonly #remaining: IterableIterator<StoredSection>;
  readonly #maxItemBytes: number;
  #section: StoredSection | undefined;
  #next = 0;

  /** @param first position of the first item in the first section */
  constructor(sections: readonly StoredSection[], maxItemBytes: number, first = 0) {
    this.#remaining = sections.values();
    this.#maxItemBytes = maxItemBytes;
    this.#advance();
    this.#next = first;
  }

  /**
   * Checks the next item, and gives the name of its section.
   *
   * @throws StoreError `item_too_large` where it comes without its parts
   */
  take(sectionOrderIndex: number, orderIndex: number, hasParts: boolean): string {
    const section = this.#section;
    if (section === undefined || sectionOrderIndex !== section.orderIndex || orderIndex !== this.#next)
      throw new Error(`Item ${orderIndex} of section ${sectionOrderIndex} is out of order.`);
    const { name } = section;
    if (!hasParts) throw itemTooLarge('Item', { section: name, orderIndex }, this.#maxItemBytes);
    this.#next += 1;
    if (this.#next === section.itemCount) this.#advance();
    return name;
  }

  /** Checks that this was the last item. */
  end(): void {
    if (this.#section === undefined) return;
    throw new Error(`Section ${this.#section.orderIndex} ended after ${this.#next} items.`);
  }

  /** Goes on to the next section that has items. */
  #advance(): void {
    this.#next = 0;
    do this.#section = this.#remaining.next().value;
    while (this.#section?.itemCount === 0);
  }
}
