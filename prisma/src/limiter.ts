import { StoreError } from './errors.ts';

/** Lets a bounded number of callers in at once. */
export interface Limiter {
  /**
   * Waits for a place and takes it; the returned function gives it back (calling it again does nothing).
   *
   * @throws StoreError `unavailable` when none gets free in time; the signal's reason when it is aborted
   */
  enter(signal?: AbortSignal): Promise<() => void>;
}

/**
 * Keeps long streams from taking every connection of the pool: short queries always find one.
 *
 * @param places callers at once
 * @param waitMs how long one waits for a place
 */
export function createLimiter(places: number, waitMs: number): Limiter {
  let free = places;
  const waiting: (() => void)[] = [];

  const leaveOnce = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    };
  };

  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free--;
        return leaveOnce();
      }
      await new Promise<void>((done, fail) => {
        const settle = (end: () => void): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          const index = waiting.indexOf(admit);
          if (index >= 0) waiting.splice(index, 1);
          end();
        };
        const admit = (): void => settle(done);
        const onAbort = (): void => settle(() => fail(signal?.reason));
        const timer = setTimeout(() => {
          settle(() => fail(new StoreError('unavailable', 'Too many imports and exports are under way.')));
        }, waitMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(admit);
      });
      return leaveOnce();
    },
  };
}
