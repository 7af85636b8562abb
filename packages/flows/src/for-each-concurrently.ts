/**
 * Calls `work` on each value of `source`, at most `concurrency` at once, in no order. Pulls the next value
 * only when there is room for it, so that memory holds no more values than that.
 *
 * Resolves when all work is done. When one call, the source or the signal fails, `work` gets an aborted
 * signal, the source is closed, what is under way is waited for, and the first failure is thrown.
 */
export async function forEachConcurrently<T>(
  source: AsyncIterable<T>,
  options: { readonly concurrency: number; readonly signal: AbortSignal },
  work: (value: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const underWay = new Set<Promise<void>>();
  let wake: (() => void) | undefined;
  const start = (value: T): void => {
    const task: Promise<void> = work(value, signal)
      .catch((error: unknown) => stop.abort(error))
      .finally(() => {
        underWay.delete(task);
        wake?.();
      });
    underWay.add(task);
  };

  try {
    signal.throwIfAborted();
    for await (const value of source) {
      signal.throwIfAborted();
      start(value);
      // Not Promise.race, which would leave a callback on a slow task for every fast one beside it.
      while (underWay.size >= options.concurrency) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
    }
  } catch (error) {
    stop.abort(error);
  }
  await Promise.all(underWay);
  signal.throwIfAborted();
}
