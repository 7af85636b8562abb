/** An iterator whose next value can be looked at before it is taken. */
export interface Peekable<T> extends AsyncDisposable {
  /** The next value; undefined at the end. */
  peek(): Promise<T | undefined>;
  /** Takes what `peek` gave. */
  take(): void;
}

/** Disposing it closes the source. */
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
