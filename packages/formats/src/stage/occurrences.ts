import { KeyNumbers } from './key-numbers.ts';
import { NumberList } from './number-list.ts';

/** Counts how often keys occur, in about 32 bytes for each. */
export class Occurrences {
  readonly #keys = new KeyNumbers();
  readonly #counts = new NumberList();

  /** How often a key has occurred with this time: 1 for the first. */
  next(key: string): number {
    const { number, isNew } = this.#keys.numberOf(key);
    if (isNew) this.#counts.push(0);
    const count = this.#counts.at(number) + 1;
    this.#counts.set(number, count);
    return count;
  }
}
