import { LRUCache } from 'lru-cache';
import type { ResultBlock } from '../run-results.ts';

/** A block of items, and how many results in it pass a filter. */
export interface CountedBlock extends ResultBlock {
  readonly count: number;
}

const MAX_FILTERS = 200;
/** A block is about 100 bytes. */
const MAX_BLOCKS = 200_000;
const MAX_BLOCKS_OF_FILTER = 10_000;

/** What passes over all results of a run counted, by filter and state of the results; the last ones that were used. */
export type CountedBlocks = LRUCache<string, readonly CountedBlock[]>;

/** Makes an empty one. */
export function createCountedBlocks(): CountedBlocks {
  return new LRUCache({
    max: MAX_FILTERS,
    maxSize: MAX_BLOCKS,
    maxEntrySize: MAX_BLOCKS_OF_FILTER,
    sizeCalculation: (blocks) => blocks.length + 1,
  });
}
