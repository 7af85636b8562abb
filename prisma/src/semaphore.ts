import { StoreError } from './database/errors.ts';

/** A semaphore: lets callers in while there are permits. */
export interface Semaphore {
  /**
   * Waits, in order of arrival, for permits and takes them; the returned function gives them back (calling it again
   * does nothing).
   *
   * @param permits how many; more than there are count as all of them
   * @throws StoreError `unavailable` when they do not get free in time; the signal's reason when it is aborted
   */
  enter(signal?: AbortSignal, permits?: number): Promise<() => void>;
}

/**
 * Keeps some work from taking every connection of the pool, or all memory: the rest always finds some.
 *
 * @param total permits
 * @param waitMs how long one waits for them
 * @param busy what a caller is told that has waited for so long
 */
export function createLimiter(
  total: number,
  waitMs: number,
  busy = 'Too many imports and exports are under way.',
): Semaphore {
  let free = total;
  const waiting: { readonly permits: number; readonly admit: () => void }[] = [];

  /** Whoever came first goes first: a caller that wants much is not passed for ever by those that want little. */
  const admitNext = (): void => {
    for (let next = waiting[0]; next !== undefined && next.permits <= free; next = waiting[0]) {
      free -= next.permits;
      next.admit();
    }
  };
  const leaveOnce = (permits: number): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      free += permits;
      admitNext();
    };
  };

  return {
    async enter(signal, wanted = 1) {
      signal?.throwIfAborted();
      const permits = Math.min(wanted, total);
      if (waiting.length === 0 && permits <= free) {
        free -= permits;
        return leaveOnce(permits);
      }
      await new Promise<void>((done, fail) => {
        const settle = (end: () => void): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          const index = waiting.indexOf(entry);
          if (index >= 0) waiting.splice(index, 1);
          end();
        };
        const refuse = (reason: unknown): void => {
          settle(() => fail(reason));
          // What stood behind it may fit.
          admitNext();
        };
        const entry = { permits, admit: (): void => settle(done) };
        const onAbort = (): void => refuse(signal?.reason);
        const timer = setTimeout(() => refuse(new StoreError('unavailable', busy)), waitMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(entry);
      });
      return leaveOnce(permits);
    },
  };
}
