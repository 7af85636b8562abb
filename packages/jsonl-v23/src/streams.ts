/** A `ReadableStream` of a browser, of Node or of a library, as far as reading needs it. */
export interface WebStream<T> {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: T | undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
}

export type ChunkSource<T> = WebStream<T> | AsyncIterable<T>;

export function isWebStream(value: object): value is WebStream<unknown> {
  return 'getReader' in value && typeof value.getReader === 'function';
}

/**
 * The chunks of a web stream or an async iterable. Browsers learned only lately to iterate over web streams (Safari in
 * 2026), so streams are read by their readers. Ending the iteration early cancels the stream, also while it is read.
 *
 * @throws TypeError for another source, or a stream that is locked
 */
export function chunksOf<T>(source: ChunkSource<T>): AsyncIterator<T> & AsyncIterable<T> {
  const iterator = iteratorOf(source);
  return {
    next: () => iterator.next(),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function iteratorOf<T>(source: ChunkSource<T>): AsyncIterator<T> {
  if (typeof source === 'object' && source !== null) {
    if (isWebStream(source)) return readerIterator(source as WebStream<T>);
    if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
  }
  throw new TypeError(`A source must be a web stream or an async iterable, got ${typeName(source)}.`);
}

function readerIterator<T>(stream: WebStream<T>): AsyncIterator<T> {
  const reader = stream.getReader();
  let isOpen = true;
  const release = (): void => {
    isOpen = false;
    reader.releaseLock();
  };
  const end = { done: true, value: undefined } as const;
  return {
    async next() {
      if (!isOpen) return end;
      let hasMore = false;
      try {
        const { done, value } = await reader.read();
        hasMore = !done;
        return done ? end : { done, value: value as T };
      } finally {
        if (!hasMore && isOpen) release();
      }
    },
    async return() {
      if (!isOpen) return end;
      try {
        await reader.cancel();
      } finally {
        if (isOpen) release();
      }
      return end;
    },
  };
}

/** What `work` resolves to, or the signal's reason as soon as it aborts. */
export function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work();
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Yields from a source until the signal aborts; then closes it without waiting, and throws the reason. */
export async function* abortable<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let isOpen = true;
  const next = (): Promise<IteratorResult<T>> =>
    iterator.next().catch((error: unknown) => {
      isOpen = false;
      throw error;
    });
  try {
    for (;;) {
      const result = await untilAborted(next, signal);
      isOpen = result.done !== true;
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    const closing = isOpen ? iterator.return?.() : undefined;
    // Do not wait for a source that is stuck in a read.
    if (signal.aborted) closing?.catch(() => {});
    else await closing;
  }
}

/** The class of an object, or else the type of a value, for errors. */
export function typeName(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value === null ? null : typeof value);
  return value.constructor?.name ?? 'object';
}
