import { createHash, randomBytes } from 'node:crypto';

const FIRST_SLOTS = 1024;

/** Numbers keys in the order in which they come, in 24 bytes for each: a map of a million texts takes a hundred. */
export class KeyNumbers {
  /** No client can make keys whose hashes collide. */
  readonly #seed: Buffer = randomBytes(16);
  /** Three values for each slot: both halves of a hash, and the number plus one; 0 in a free slot. */
  #slots: Uint32Array = new Uint32Array(3 * FIRST_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    const [high, low] = this.#hashOf(key);
    return this.#slots[slotOf(this.#slots, high, low) + 2] !== 0;
  }

  numberOf(key: string): { readonly number: number; readonly isNew: boolean } {
    if (4 * (this.#size + 1) > this.#slots.length) this.#grow();
    const [high, low] = this.#hashOf(key);
    const at = slotOf(this.#slots, high, low);
    const found = this.#slots[at + 2] ?? 0;
    if (found > 0) return { number: found - 1, isNew: false };
    this.#size += 1;
    this.#slots.set([high, low, this.#size], at);
    return { number: this.#size - 1, isNew: true };
  }

  #hashOf(key: string): readonly [high: number, low: number] {
    const hash = createHash('sha256').update(this.#seed).update(key).digest();
    return [hash.readUInt32LE(0), hash.readUInt32LE(4)];
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 3) {
      if (before[at + 2] === 0) continue;
      const [high = 0, low = 0] = before.subarray(at, at + 2);
      slots.set(before.subarray(at, at + 3), slotOf(slots, high, low));
    }
    this.#slots = slots;
  }
}

function slotOf(slots: Uint32Array, high: number, low: number): number {
  const count = slots.length / 3;
  for (let slot = high % count; ; slot = (slot + 1) % count) {
    const at = 3 * slot;
    if (slots[at + 2] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
  }
}

export class Occurrences {
  readonly #keys = new KeyNumbers();
  readonly #counts: number[] = [];

  next(key: string): number {
    const { number } = this.#keys.numberOf(key);
    const count = (this.#counts[number] ?? 0) + 1;
    this.#counts[number] = count;
    return count;
  }
}
