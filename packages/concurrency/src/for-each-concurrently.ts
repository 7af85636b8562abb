/**
 * Calls `work` on each value of `source`, at most `concurrency` concurrently, in any order. It pulls the next value only when
 * a call may start, so that memory holds at most `concurrency` values.
 *
 * Resolves when all work is done. If a call, the source or the signal fails, it aborts the signal of `work`, closes the
 * source, waits for the running calls, and throws the first failure.
 */
export async function forEachConcurrently<T>(
  source: AsyncIterable<T>,
  options: { readonly concurrency: number; readonly signal: AbortSignal },
  work: (value: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const running = new Set<Promise<void>>();
  let wake: (() => void) | undefined;
  const start = (value: T): void => {
    const task: Promise<void> = work(value, signal)
      .catch((error: unknown) => stop.abort(error))
      .finally(() => {
        running.delete(task);
        wake?.();
      });
    running.add(task);
  };

  try {
    signal.throwIfAborted();
    for await (const value of source) {
      signal.throwIfAborted();
      start(value);
      // Not Promise.race, which would leave a callback on a slow task for each fast one.
      while (running.size >= options.concurrency) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
    }
  } catch (error) {
    stop.abort(error);
  }
  await Promise.all(running);
  signal.throwIfAborted();
}
