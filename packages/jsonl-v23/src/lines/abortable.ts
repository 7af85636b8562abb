/** Yields from a source until the signal aborts; then closes it without waiting, and throws the reason. */
export async function* abortable<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let rejectPending: (reason: unknown) => void = () => {};
  const onAbort = (): void => rejectPending(signal.reason);
  signal.addEventListener('abort', onAbort);
  let isOpen = true;
  try {
    for (;;) {
      signal.throwIfAborted();
      const result = await new Promise<IteratorResult<T>>((resolve, reject) => {
        rejectPending = reject;
        iterator.next().then(resolve, (error: unknown) => {
          isOpen = false;
          reject(error);
        });
      });
      if (result.done === true) {
        isOpen = false;
        return;
      }
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    const closing = isOpen ? iterator.return?.() : undefined;
    // Do not wait for a source that is stuck in a read.
    if (signal.aborted) closing?.catch(() => {});
    else await closing;
  }
}
