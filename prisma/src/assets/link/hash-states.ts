import type { Hash } from 'node:crypto';

const MAX_STATES = 16;

/** States of hashes after texts that come again; the last ones that were used. */
export class HashStates {
  /** The least recently used state first. */
  readonly #states = new Map<string, Hash>();

  /** A copy, to go on from. */
  get(key: string): Hash | undefined {
    const state = this.#states.get(key);
    if (state === undefined) return undefined;
    this.#states.delete(key);
    this.#states.set(key, state);
    return state.copy();
  }

  /** Keeps a copy of a state. */
  set(key: string, state: Hash): void {
    this.#states.set(key, state.copy());
    const [oldest] = this.#states.keys();
    if (this.#states.size > MAX_STATES && oldest !== undefined) this.#states.delete(oldest);
  }
}
