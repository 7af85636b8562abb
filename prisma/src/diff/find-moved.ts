import { createYielder } from '@svc/concurrency';

/** How the items of two sections of one name differ in their positions, as big-endian integers. */
interface SectionOrder {
  /** Start and length of each run of positions at which the sections differ, ascending. */
  readonly differing: Buffer;
  /**
   * Runs of paired items that have consecutive positions on both sides, without those that are the same at one position: first
   * position on either side, length, place in the order of the second side, and 1 if the items are equal. In the order of the
   * first side.
   */
  readonly blocks: Buffer;
}

/** Equal items whose order has changed, in the order of the second side. */
export interface MovedItems {
  readonly count: number;
  /** First position on either side, and length, of each run. */
  readonly runs: Int32Array;
}

const INT_BYTES = 4;
const DIFFERING_INTS = 2;
const BLOCK_INTS = 5;
/** A fraction of a millisecond. */
const ELEMENTS_PER_TURN = 4_096;

/**
 * Finds the items that are not in the longest sequence of pairs whose order is the same on both sides; of such sequences, in
 * one that keeps most equal items.
 */
export async function findMoved(order: SectionOrder): Promise<MovedItems> {
  const turn = createYielder();
  const elements = new Elements(order);
  for (const _ of elements.read(order)) await turn();
  const { count, firsts, seconds, lengths, places, isEqual } = elements;
  // Longer sequences first, then those with more equal items.
  const unit = elements.itemCount + 1;
  const chains = new BestChains(count);
  const byPlace = new Int32Array(count);
  for (let element = 0; element < count; element += 1) {
    const [place, length] = [places[element] as number, lengths[element] as number];
    chains.add(element, place, length * unit + (isEqual[element] === 1 ? length : 0));
    byPlace[place] = element;
    if (element % ELEMENTS_PER_TURN === 0) await turn();
  }
  const isKept = chains.best();
  const runs = new Int32Array(3 * count);
  let end = 0;
  let moved = 0;
  for (const [place, element] of byPlace.entries()) {
    if (place % ELEMENTS_PER_TURN === 0) await turn();
    if (isKept[element] === 1 || isEqual[element] === 0) continue;
    runs[end++] = firsts[element] as number;
    runs[end++] = seconds[element] as number;
    runs[end++] = lengths[element] as number;
    moved += lengths[element] as number;
  }
  return { count: moved, runs: runs.subarray(0, end) };
}

/** The blocks, and the items between them that are the same at one position, in the order of the first side. */
class Elements {
  readonly firsts: Int32Array;
  readonly seconds: Int32Array;
  readonly lengths: Int32Array;
  /** In the order of the second side. */
  readonly places: Int32Array;
  readonly isEqual: Uint8Array;
  count = 0;
  itemCount = 0;
  readonly #runs: number;
  readonly #blocks: number;

  constructor({ differing, blocks }: SectionOrder) {
    this.#runs = differing.byteLength / (DIFFERING_INTS * INT_BYTES);
    this.#blocks = blocks.byteLength / (BLOCK_INTS * INT_BYTES);
    const most = this.#runs + this.#blocks;
    this.firsts = new Int32Array(most);
    this.seconds = new Int32Array(most);
    this.lengths = new Int32Array(most);
    this.places = new Int32Array(most);
    this.isEqual = new Uint8Array(most);
  }

  /** Reads the elements. Yields now and then. */
  *read({ differing, blocks }: SectionOrder): Generator<void> {
    const [runs, blockCount] = [this.#runs, this.#blocks];
    const intOf = (bytes: Buffer, index: number): number => bytes.readInt32BE(index * INT_BYTES);
    // What is the same is between two runs that differ; what is before the first and behind the last of them is in order.
    const sameStart = (run: number): number => intOf(differing, run * 2) + intOf(differing, run * 2 + 1);

    const blockAt = new Int32Array(blockCount);
    const elementOf = new Int32Array(blockCount);
    const sameElements = new Int32Array(runs);
    let run = 0;
    for (let block = 0; block <= blockCount; block += 1) {
      const at = block * BLOCK_INTS;
      const first = block === blockCount ? Number.POSITIVE_INFINITY : intOf(blocks, at);
      for (; run + 1 < runs && sameStart(run) <= first; run += 1) {
        const start = sameStart(run);
        sameElements[run] = this.#add(start, start, intOf(differing, run * 2 + 2) - start, 1);
        if (run % ELEMENTS_PER_TURN === 0) yield;
      }
      if (block === blockCount) break;
      elementOf[block] = this.#add(
        first,
        intOf(blocks, at + 1),
        intOf(blocks, at + 2),
        intOf(blocks, at + 4),
      );
      blockAt[intOf(blocks, at + 3)] = block;
      if (block % ELEMENTS_PER_TURN === 0) yield;
    }

    run = 0;
    let place = 0;
    for (let index = 0; index <= blockCount; index += 1) {
      const block = blockAt[index] as number;
      const second = index === blockCount ? Number.POSITIVE_INFINITY : intOf(blocks, block * BLOCK_INTS + 1);
      for (; run + 1 < runs && sameStart(run) <= second; run += 1) {
        this.places[sameElements[run] as number] = place++;
        if (run % ELEMENTS_PER_TURN === 0) yield;
      }
      if (index < blockCount) this.places[elementOf[block] as number] = place++;
      if (index % ELEMENTS_PER_TURN === 0) yield;
    }
  }

  #add(first: number, second: number, length: number, isEqual: number): number {
    const element = this.count;
    this.firsts[element] = first;
    this.seconds[element] = second;
    this.lengths[element] = length;
    this.isEqual[element] = isEqual;
    this.itemCount += length;
    this.count += 1;
    return element;
  }
}

/** The heaviest increasing sequences of elements, by a Fenwick tree over their places. */
class BestChains {
  /** For each node of the tree the heaviest chain that ends at one of its places, and its last element. */
  readonly #weights: Float64Array;
  readonly #lasts: Int32Array;
  readonly #before: Int32Array;

  constructor(count: number) {
    this.#weights = new Float64Array(count + 1);
    this.#lasts = new Int32Array(count + 1).fill(-1);
    this.#before = new Int32Array(count);
  }

  /** Adds the element after those with smaller places that came before it. */
  add(element: number, place: number, weight: number): void {
    const before = this.#heaviest(place);
    this.#before[element] = this.#lasts[before] as number;
    const total = weight + (this.#weights[before] as number);
    for (let node = place + 1; node < this.#weights.length; node += node & -node) {
      if ((this.#weights[node] as number) >= total) continue;
      this.#weights[node] = total;
      this.#lasts[node] = element;
    }
  }

  /** The elements of the heaviest chain: 1 for each. */
  best(): Uint8Array {
    const isKept = new Uint8Array(this.#before.length);
    let element = this.#lasts[this.#heaviest(this.#before.length)] as number;
    for (; element !== -1; element = this.#before[element] as number) isKept[element] = 1;
    return isKept;
  }

  /** The node of the heaviest chain that ends before a place; an empty one for none. */
  #heaviest(place: number): number {
    let best = 0;
    for (let node = place; node > 0; node -= node & -node) {
      if ((this.#weights[node] as number) > (this.#weights[best] as number)) best = node;
    }
    return best;
  }
}
