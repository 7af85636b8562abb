/**
 * Applies `work` to every value with at most `parallelism` under way, and gives the results in the order of the
 * values: the source is read only as fast as results are taken. When the consumer stops, or anything throws, the
 * source is closed and no further value is begun.
 *
 * @example
 * for await (const page of mapOrdered(urls, 4, (url) => fetch(url))) …
 */
export async function* mapOrdered<I, O>(
  source: AsyncIterable<I>,
  parallelism: number,
  work: (value: I) => Promise<O>,
): AsyncGenerator<O> {
  const underWay: Promise<O>[] = [];
  try {
    for await (const value of source) {
      const result = work(value);
      // A failure is thrown when its turn comes; until then it must not count as unhandled.
      result.catch(() => {});
      underWay.push(result);
      if (underWay.length >= parallelism) yield await (underWay.shift() as Promise<O>);
    }
    while (underWay.length > 0) yield await (underWay.shift() as Promise<O>);
  } finally {
    await Promise.allSettled(underWay);
  }
}
