import type { ResultBlock } from '../run-results.ts';

/** A block of items, and how many results in it pass a filter. */
export interface CountedBlock extends ResultBlock {
  readonly count: number;
}

const MAX_FILTERS = 20;
/** A block is about 100 bytes. */
const MAX_BLOCKS = 10_000;

/** What passes over all results of a run counted, by filter and state of the results; the last ones that were used. */
export class CountedBlocks {
  /** The least recently used filter first. */
  readonly #blocks = new Map<string, readonly CountedBlock[]>();

  get(countedFor: string): readonly CountedBlock[] | undefined {
    const blocks = this.#blocks.get(countedFor);
    if (blocks === undefined) return undefined;
    this.#blocks.delete(countedFor);
    this.#blocks.set(countedFor, blocks);
    return blocks;
  }

  set(countedFor: string, blocks: readonly CountedBlock[]): void {
    if (blocks.length > MAX_BLOCKS) return;
    this.#blocks.set(countedFor, blocks);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > MAX_FILTERS && oldest !== undefined) this.#blocks.delete(oldest);
  }
}
