import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/** What a package states, and what it should. */
export interface Difference {
  /** File, line and JSON Pointer. */
  readonly place: string;
  readonly recorded: JsonValue;
  readonly recomputed: JsonValue;
}

const MAX_DIFFERENCES = 100;

/** Sums in another order differ by rounding; packages state 12 digits. */
const TOLERANCE = 1e-9;

export class Findings {
  readonly proven: Record<string, number> = {};
  readonly trusted: Record<string, number> = {};
  /** Of whole files, and of their lines. */
  readonly #ofFiles: Difference[] = [];
  readonly #ofLines: Difference[] = [];
  differingTotal = 0;

  /** The first differences: whole files come before lines, which may be very many. */
  get differing(): readonly Difference[] {
    return [...this.#ofFiles, ...this.#ofLines].slice(0, MAX_DIFFERENCES);
  }

  prove(what: string, count = 1): void {
    if (count > 0) this.proven[what] = (this.proven[what] ?? 0) + count;
  }

  trust(what: string, count = 1): void {
    if (count > 0) this.trusted[what] = (this.trusted[what] ?? 0) + count;
  }

  differ(place: string, recorded: JsonValue, recomputed: JsonValue): void {
    this.differingTotal += 1;
    const list = /:\d+ /.test(place) ? this.#ofLines : this.#ofFiles;
    if (list.length < MAX_DIFFERENCES) list.push({ place, recorded, recomputed });
  }

  /** Compares a value with what it must be. @returns whether they agree */
  compare(place: string, recorded: JsonValue | undefined, recomputed: JsonValue): boolean {
    if (isSame(recorded ?? null, recomputed)) return true;
    this.differ(place, recorded ?? null, recomputed);
    return false;
  }

  /** The same for a member of what is at a place. */
  compareMember(place: string, of: JsonValue | undefined, name: string, recomputed: JsonValue): boolean {
    return this.compare(`${place}/${name}`, memberOf(of, name), recomputed);
  }
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.abs(one - other) <= TOLERANCE * Math.max(1, Math.abs(one), Math.abs(other));
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, at) => isSame(value, other[at] ?? null));
  }
  return canonicalJson(one) === canonicalJson(other);
}

/** A member of a value; null if it has none. */
export const memberOf = (value: JsonValue | undefined, name: string): JsonValue =>
  isJsonObject(value ?? null) ? (getMember(value as JsonObject, name) ?? null) : null;
