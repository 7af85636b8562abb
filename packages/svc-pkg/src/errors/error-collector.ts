import { ImportErrors, type LocatedError } from '@svc/jsonl-v23/internal';

const MAX_ERRORS = 100;

/** Collects errors after which reading continues. */
export class ErrorCollector {
  readonly #errors: LocatedError[] = [];
  #total = 0;

  add(error: LocatedError): void {
    this.#total += 1;
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
  }

  /**
   * The same items.
   *
   * @throws the only error, or ImportErrors, at the end of the last items
   */
  async *atEndOf<T>(items: AsyncIterable<T>, isLast = true): AsyncGenerator<T> {
    yield* items;
    if (isLast) this.throwIfAny();
  }

  /** @throws the only error, or ImportErrors */
  throwIfAny(): void {
    const [first, ...others] = this.#errors;
    if (first === undefined) return;
    throw others.length === 0 ? first : new ImportErrors(first, this.#errors, this.#total);
  }
}
