import type { SourceLocation } from '@svc/jsonl-v23';
import type { ItemChange } from './upgrade-item.ts';

/** One kind of change, how often it was made, and where first. */
export interface ReportedChange extends ItemChange {
  count: number;
  first: SourceLocation;
}

/** What a conversion did. */
export interface ConversionReport {
  /** The file that was written. */
  output: string;
  name: string;
  /** Lower-case hex. */
  versionHash: string;
  itemCount: number;
  sections: { name: string; from: string; itemCount: number }[];
  /** Files under `assets/` and `checkers/`. */
  fileCount: number;
  /** In the order in which they first occurred. */
  changes: ReportedChange[];
  /** Files that are no part of a package and were carried along as they are. */
  carried: string[];
  /** The archive was a package of this format already: only the generator's stamp is new. */
  alreadyNew: boolean;
}

/** Counts changes by their kind. */
export class ChangeTally {
  readonly #changes = new Map<string, ReportedChange>();

  add(change: ItemChange, location: SourceLocation): void {
    const key = [change.what, change.from, change.to].join('\0');
    const known = this.#changes.get(key);
    if (known) known.count++;
    else this.#changes.set(key, { ...change, count: 1, first: location });
  }

  list(): ReportedChange[] {
    return [...this.#changes.values()];
  }
}
