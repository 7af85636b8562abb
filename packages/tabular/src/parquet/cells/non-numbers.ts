import { type Feature, someFeature } from '../../schema/features.ts';

/** Counts the NaN and infinities of cells, which become null. */
export class NonNumberCounter {
  #count = 0;

  /** Counts them in one cell, at every level. */
  add(cell: unknown): void {
    if (typeof cell === 'number') {
      if (!Number.isFinite(cell)) this.#count += 1;
    } else if (Array.isArray(cell) || cell instanceof Float32Array || cell instanceof Float64Array) {
      for (const item of cell) this.add(item);
    } else if (typeof cell === 'object' && cell !== null && !ArrayBuffer.isView(cell)) {
      for (const member of Object.values(cell)) this.add(member);
    }
  }

  /** A sentence if there were some. */
  get warnings(): readonly string[] {
    if (this.#count === 0) return [];
    return [`NaN and infinities are read as null: ${this.#count} in the rows that were read.`];
  }
}

/** Whether cells of a column may have NaN and infinities. */
export function mayHaveNonNumbers(feature: Feature): boolean {
  return someFeature(
    feature,
    (part) => (part.kind === 'value' || part.kind === 'array') && /^(?:float|double|half)/.test(part.dtype),
  );
}
