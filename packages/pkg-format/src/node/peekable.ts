/** An iterator with a look at the next value. */
export interface Peekable<T> extends AsyncDisposable {
  /** The next value, which is not taken; undefined at the end. */
  peek(): Promise<T | undefined>;
  /** Takes the value that `peek` returned. */
  take(): void;
}

/** Makes an iterable peekable; disposing it closes the source. */
export function peekable<T extends object>(source: AsyncIterable<T>): Peekable<T> {
  const iterator = source[Symbol.asyncIterator]();
  let waiting: IteratorResult<T> | undefined;
  return {
    async peek() {
      waiting ??= await iterator.next();
      return waiting.done ? undefined : waiting.value;
    },
    take() {
      if (!waiting?.done) waiting = undefined;
    },
    async [Symbol.asyncDispose]() {
      await iterator.return?.();
    },
  };
}
