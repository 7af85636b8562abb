import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';

/** A JsonlError as its members, because structured cloning between threads loses classes. */
export interface Failure {
  readonly code: JsonlErrorCode;
  readonly message: string;
  readonly location: SourceLocation;
  readonly cause: unknown;
}

export function toFailure({ code, message, location, cause }: JsonlError): Failure {
  return { code, message, location, cause };
}

/** The error of a {@link Failure}. */
export function toError({ code, message, location, cause }: Failure): JsonlError {
  return new JsonlError(code, message, location, cause === undefined ? undefined : { cause });
}

/** Rows that could not be encoded. */
export interface RowFailures {
  /** The first {@link MAX_ROW_FAILURES}. */
  readonly first: readonly Failure[];
  readonly total: number;
}

/** Failures of rows that are kept; the others are counted. */
export const MAX_ROW_FAILURES = 100;

/** The failures of the lines of one batch that two passes found, in the order of the lines. */
export function mergeFailures(one: RowFailures | null, other: RowFailures | null): RowFailures | null {
  if (one === null || other === null) return one ?? other;
  const first = [...one.first, ...other.first].sort(
    (a, b) => (a.location.line ?? 0) - (b.location.line ?? 0),
  );
  return { first: first.slice(0, MAX_ROW_FAILURES), total: one.total + other.total };
}

/** Counts the failures of one batch. */
export class RowFailureCounter {
  readonly #first: Failure[] = [];
  #total = 0;

  /** Null if there are none. */
  get failures(): RowFailures | null {
    return this.#total === 0 ? null : { first: this.#first, total: this.#total };
  }

  /** @param error null for a row that comes after all that are kept */
  add(error: JsonlError | null): void {
    this.#total += 1;
    if (error !== null && this.#first.length < MAX_ROW_FAILURES) this.#first.push(toFailure(error));
  }

  /** Runs work, and counts its JsonlError; any other error passes. */
  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      this.add(error);
    }
  }
}
