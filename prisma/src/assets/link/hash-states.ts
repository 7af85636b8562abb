import { type Hash, hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const MAX_STATES = 16;

/** What the hashes of items with common files share. */
export interface HashStates {
  /** States after texts that come again, the last ones that were used. Go on from a copy, and keep a copy. */
  readonly afterTexts: LRUCache<string, Hash>;
  /** Hashes of files in lower-case hex digits. */
  readonly files: WeakMap<Uint8Array, string>;
}

/** Makes empty ones. */
export function createHashStates(): HashStates {
  return { afterTexts: new LRUCache({ max: MAX_STATES }), files: new WeakMap() };
}

/** The hash of a file in lower-case hex digits; with states, each array is hashed once. */
export function fileHash(bytes: Uint8Array, states: HashStates | null): string {
  const known = states?.files.get(bytes) ?? hash('sha256', bytes, 'hex');
  states?.files.set(bytes, known);
  return known;
}
