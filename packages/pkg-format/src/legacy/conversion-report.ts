import type { SourceLocation } from '@svc/jsonl-v23';
import type { ItemChange } from './upgrade-item.ts';

/** One kind of change, the number of times it was made, and the location of the first. */
export interface ReportedChange extends ItemChange {
  readonly count: number;
  readonly first: SourceLocation;
}

/** The result of a conversion. */
export interface ConversionReport {
  /** The file that was written. */
  readonly output: string;
  readonly name: string;
  /** Lower-case hex. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly sections: { name: string; from: string; itemCount: number }[];
  /** Number of files in `assets/` and `checkers/`. */
  readonly fileCount: number;
  /** In the order of their first occurrence. */
  readonly changes: ReportedChange[];
  /** Files that do not belong to the format and were copied unchanged. */
  readonly carried: string[];
  /** True if the archive was a package of this format already, so that only the generator's version is new. */
  readonly alreadyNew: boolean;
}

/** Counts changes by their kind. */
export class ChangeCounter {
  readonly #changes = new Map<string, { change: ItemChange; count: number; first: SourceLocation }>();

  add(change: ItemChange, location: SourceLocation): void {
    const key = [change.what, change.from, change.to].join('\0');
    const known = this.#changes.get(key);
    if (known) known.count += 1;
    else this.#changes.set(key, { change, count: 1, first: location });
  }

  list(): ReportedChange[] {
    return Array.from(this.#changes.values(), ({ change, count, first }) => ({ ...change, count, first }));
  }
}
