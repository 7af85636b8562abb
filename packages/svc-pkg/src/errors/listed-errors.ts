import type { SourceLocation } from '@svc/jsonl-v23';

/** An error with a code and a location, such as a `JsonlError`. */
interface LocatedError extends Error {
  readonly code: string;
  readonly location: SourceLocation;
}

/** Several errors, of which it has the code, message and location of the first. */
export class ListedErrors extends Error {
  override readonly name = 'ListedErrors';
  readonly code: string;
  readonly location: SourceLocation;
  /** The first 100. */
  readonly errors: readonly LocatedError[];
  /** The number of all. */
  readonly errorsTotal: number;

  constructor(errors: readonly [LocatedError, ...LocatedError[]], errorsTotal: number) {
    const [first] = errors;
    super(first.message, { cause: first });
    this.code = first.code;
    this.location = first.location;
    this.errors = errors;
    this.errorsTotal = errorsTotal;
  }
}

const MAX_ERRORS = 100;

/** Collects errors after which reading goes on. */
export class ErrorCollector {
  readonly #errors: LocatedError[] = [];
  #total = 0;

  add(error: LocatedError): void {
    this.#total += 1;
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
  }

  /** @throws the only error, or ListedErrors */
  throwIfAny(): void {
    const [first, ...others] = this.#errors;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ListedErrors([first, ...others], this.#total);
  }
}
