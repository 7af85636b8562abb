import { randomUUID } from 'node:crypto';
import { RUN_ITEMS } from '../items/hash-blocks.ts';
import type { ItemRange } from '../versions/ranges.ts';
import type { RowTarget } from './encode/encode-rows.ts';

/** Items of a part: as many as one run of hash blocks has. */
const PART_ITEMS = RUN_ITEMS;

/** The parts in which the items of a section are stored: a long one has many, so that they are on all nodes of a cluster. */
export class SectionParts {
  readonly #parts: { readonly partId: string; count: number }[] = [];

  /** Where the next items go; call {@link add} when it is known how many they are. @param most how many they may be */
  place(most: number): RowTarget {
    let last = this.#parts.at(-1);
    if (last === undefined || (last.count > 0 && last.count + most > PART_ITEMS)) {
      last = { partId: randomUUID(), count: 0 };
      this.#parts.push(last);
    }
    return { partId: last.partId, firstOrdinal: last.count };
  }

  /** Counts items of the place before. */
  add(count: number): void {
    const last = this.#parts.at(-1);
    if (last !== undefined) last.count += count;
  }

  get ranges(): readonly ItemRange[] {
    return this.#parts
      .filter(({ count }) => count > 0)
      .map(({ partId, count }) => ({ partId, first: 0, count }));
  }
}
