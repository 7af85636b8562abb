import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Applies `work` to every value, at most `parallelism` at a time, and yields the results in the order of the values. The
 * next values are read and worked on while the consumer uses a result, which counts towards `parallelism` until the next
 * one is requested. When the consumer stops, or anything throws, the source is closed and no further value is started.
 */
export async function* mapOrdered<I, O>(
  source: AsyncIterable<I> | Iterable<I>,
  parallelism: number,
  work: (value: I) => Promise<O>,
): AsyncGenerator<O> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const results: Promise<O>[] = [];
  let used = 0;
  let isStopped = false;
  let isExhausted = false;
  let failure: { readonly error: unknown } | undefined;
  let wakeReader = (): void => undefined;
  let wakeConsumer = (): void => undefined;

  async function readAll(): Promise<void> {
    while (!isStopped) {
      if (results.length + used >= Math.max(1, parallelism)) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
        continue;
      }
      const { done, value } = await iterator.next();
      if (done === true) {
        isExhausted = true;
        break;
      }
      if (isStopped) break;
      const result = work(value);
      // A failure is thrown when its turn comes; until then it must not count as unhandled.
      result.catch(() => {});
      results.push(result);
      wakeConsumer();
    }
  }

  const reading = readAll()
    .catch((error: unknown) => {
      isExhausted = true;
      failure = { error };
    })
    .finally(() => {
      isStopped = true;
      wakeConsumer();
    });
  try {
    for (;;) {
      const next = results.shift();
      if (next !== undefined) {
        used = 1;
        yield await next;
        used = 0;
        wakeReader();
      } else if (isStopped) {
        if (failure !== undefined) throw failure.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wakeConsumer = resolve;
        });
      }
    }
  } finally {
    isStopped = true;
    wakeReader();
    await reading;
    if (!isExhausted) await iterator.return?.();
    await Promise.allSettled(results);
  }
}

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

/** How long an import may keep the thread to itself. */
const MAX_TURN_MS = 20;

/**
 * Makes a function to await between batches: it lets the event loop turn once the caller has had the thread for a while.
 * Without it, rows that need no waiting would block every request, cancellation and heartbeat of the process.
 *
 * @param nowMs a monotonic clock
 */
export function createYielder(nowMs: () => number = () => performance.now()): () => Promise<void> {
  let sinceMs = nowMs();
  return async () => {
    if (nowMs() - sinceMs < MAX_TURN_MS) return;
    await nextTurn();
    sinceMs = nowMs();
  };
}

/** What a promise resolves to; without a signal as it is. @throws the signal's reason, immediately when it aborts */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
