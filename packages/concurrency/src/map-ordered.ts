/**
 * Applies `work` to every value, at most `parallelism` at a time, and yields the results in the order of the values. The
 * next values are read and worked on while the consumer uses a result, which counts towards `parallelism` until the next
 * one is requested. When the consumer stops, or anything throws, the source is closed and no further value is started.
 *
 * @example
 * for await (const page of mapOrdered(urls, 4, (url) => fetch(url))) …
 */
export async function* mapOrdered<I, O>(
  source: AsyncIterable<I>,
  parallelism: number,
  work: (value: I) => Promise<O>,
): AsyncGenerator<O> {
  const iterator = source[Symbol.asyncIterator]();
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
