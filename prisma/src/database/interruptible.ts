/**
 * Reads a source, and closes it without waiting for it when its reader stops: it may wait for something that never comes.
 *
 * @param wait for what comes next; may reject before that comes
 */
export async function* interruptible<T>(
  source: AsyncIterable<T>,
  wait: (next: Promise<IteratorResult<T>>) => Promise<IteratorResult<T>>,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let isOpen = true;
  try {
    for (;;) {
      const { done, value } = await wait(iterator.next());
      if (done === true) {
        isOpen = false;
        return;
      }
      yield value;
    }
  } finally {
    if (isOpen) iterator.return?.().then(undefined, () => undefined);
  }
}
