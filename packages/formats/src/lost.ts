import type { SourceLocation } from '@svc/jsonl-v23';

/** Something that has no place in the other format. */
export interface Lost {
  /** Such as `log_likelihoods`. */
  readonly what: string;
  readonly count: number;
  /** Where the first one is. */
  readonly first: SourceLocation;
}

/** Kinds that are listed; further ones are counted as `others`. */
const MAX_KINDS = 100;
const MAX_LENGTH = 200;

export interface Place {
  readonly location: SourceLocation;
  lost(what: string, count?: number): void;
}

export class LostCounter {
  readonly #found = new Map<string, { count: number; readonly first: SourceLocation }>();

  add(what: string, location: SourceLocation, count = 1): void {
    if (count === 0) return;
    const name = what.slice(0, MAX_LENGTH).toWellFormed();
    const known = this.#found.get(name);
    if (known !== undefined) known.count += count;
    else if (this.#found.size < MAX_KINDS) this.#found.set(name, { count, first: location });
    else this.#addOther(location, count);
  }

  at(location: SourceLocation): Place {
    return { location, lost: (what, count) => this.add(what, location, count) };
  }

  /** In the order in which they were found. */
  list(): readonly Lost[] {
    return Array.from(this.#found, ([what, found]) => ({ what, ...found }));
  }

  #addOther(first: SourceLocation, count: number): void {
    const others = this.#found.get('others');
    if (others === undefined) this.#found.set('others', { count, first });
    else others.count += count;
  }
}
