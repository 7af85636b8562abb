import type { StoreError } from './database/errors.ts';

/** Lets callers in while there are permits. */
export interface Semaphore {
  /**
   * Waits for permits, in order of arrival, and takes them; disposing returns them.
   *
   * @param permits how many; more than there are count as all of them
   * @throws StoreError `unavailable` when they do not become free in time; the signal's reason when it is aborted
   */
  acquire(signal?: AbortSignal, permits?: number): Promise<Disposable>;
}

export interface SemaphoreOptions {
  readonly permits: number;
  /** How long a caller waits for permits. */
  readonly waitMs: number;
  /** The error for a caller that waited so long. */
  readonly refuse: () => StoreError;
}

/** Keeps one kind of work from taking every connection of the pool, or all memory. */
export function createSemaphore({ permits: total, waitMs, refuse }: SemaphoreOptions): Semaphore {
  let free = total;
  const waiting: { readonly permits: number; readonly admit: () => void }[] = [];

  /** First come, first served, so that callers that want few permits do not starve one that wants many. */
  const admitNext = (): void => {
    for (let next = waiting[0]; next !== undefined && next.permits <= free; next = waiting[0]) {
      free -= next.permits;
      next.admit();
    }
  };
  const permitOf = (permits: number): Disposable => {
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        free += permits;
        admitNext();
      },
    };
  };

  return {
    async acquire(signal, wanted = 1) {
      signal?.throwIfAborted();
      const permits = Math.min(wanted, total);
      if (waiting.length === 0 && permits <= free) {
        free -= permits;
        return permitOf(permits);
      }
      await new Promise<void>((done, fail) => {
        const settle = (end: () => void): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          const index = waiting.indexOf(entry);
          if (index >= 0) waiting.splice(index, 1);
          end();
        };
        const reject = (reason: unknown): void => {
          settle(() => fail(reason));
          // The next in the queue may want fewer permits.
          admitNext();
        };
        const entry = { permits, admit: (): void => settle(done) };
        const onAbort = (): void => reject(signal?.reason);
        const timer = setTimeout(() => reject(refuse()), waitMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(entry);
      });
      return permitOf(permits);
    },
  };
}
