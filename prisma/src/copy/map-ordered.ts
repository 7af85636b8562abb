/**
 * Applies `work` to every value, at most `parallelism` at a time, and yields the results in the order of the values. The
 * source is read only as fast as results are taken. When the consumer stops, or anything throws, the source is closed and
 * no further value is started.
 *
 * @example
 * for await (const page of mapOrdered(urls, 4, (url) => fetch(url))) …
 */
export async function* mapOrdered<I, O>(
  source: AsyncIterable<I>,
  parallelism: number,
  work: (value: I) => Promise<O>,
): AsyncGenerator<O> {
  const running: Promise<O>[] = [];
  try {
    for await (const value of source) {
      const result = work(value);
      // A failure is thrown when its turn comes; until then it must not count as unhandled.
      result.catch(() => {});
      running.push(result);
      if (running.length >= parallelism) yield await (running.shift() as Promise<O>);
    }
    while (running.length > 0) yield await (running.shift() as Promise<O>);
  } finally {
    await Promise.allSettled(running);
  }
}
