import { RequestError } from './request-error.ts';

/** Lets a bounded number of imports work at once; the rest wait for their turn, in order, for a bounded time. */
export interface Gate {
  /** @throws RequestError `unavailable` with `Retry-After` when no turn comes in time */
  enter(signal: AbortSignal): Promise<Disposable>;
}

export function createGate(places: number, waitMs: number): Gate {
  let free = places;
  const waiting = new Set<() => void>();
  const leave = (): Disposable => {
    let left = false;
    return {
      [Symbol.dispose]: () => {
        if (left) return;
        left = true;
        // The place goes straight to the one that waits longest, so that nobody slips in between.
        const next = waiting.values().next().value;
        if (next === undefined) free += 1;
        else next();
      },
    };
  };
  return {
    enter: async (signal) => {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await turn(signal);
      return leave();
    },
  };

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (action: () => void): void => {
        clearTimeout(timer);
        waiting.delete(take);
        signal.removeEventListener('abort', onAbort);
        action();
      };
      const take = (): void => end(resolve);
      const onAbort = (): void => end(() => reject(signal.reason));
      const timer = setTimeout(() => {
        end(() =>
          reject(
            new RequestError(
              'unavailable',
              `${places} imports are under way and none ended within ${waitMs} ms`,
              {
                headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
              },
            ),
          ),
        );
      }, waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(take);
    });
  }
}
