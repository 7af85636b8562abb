import type { Hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const MAX_STATES = 16;

/** States of hashes after texts that come again, the last ones that were used. Go on from a copy, and keep a copy. */
export type HashStates = LRUCache<string, Hash>;

/** Makes an empty one. */
export function createHashStates(): HashStates {
  return new LRUCache({ max: MAX_STATES });
}
