import type { RequestError } from './http/request/request-error.ts';

/** Lets a bounded number of requests work at once; the rest wait for their turn, in order, for a bounded time. */
export interface Semaphore {
  /** Disposing of what it gives releases the permit. @throws RequestError when none is released in time */
  acquire(signal: AbortSignal): Promise<Disposable>;
}

export interface SemaphoreOptions {
  readonly permits: number;
  /** how long a request waits for a permit */
  readonly waitMs: number;
  /** the error for a request that waited so long */
  readonly refuse: () => RequestError;
}

export function createSemaphore({ permits, waitMs, refuse }: SemaphoreOptions): Semaphore {
  let free = permits;
  const waiting = new Set<() => void>();
  const permit = (): Disposable => {
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        // The permit goes straight to the one that waits longest, so that nobody slips in between.
        const next = waiting.values().next().value;
        if (next === undefined) free += 1;
        else next();
      },
    };
  };
  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await turn(signal);
      return permit();
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
      const timer = setTimeout(() => end(() => reject(refuse())), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(take);
    });
  }
}

/** A semaphore for each client, so that one of them does not take what all share. */
export interface ClientSemaphores {
  /** As {@link Semaphore.acquire}. */
  acquire(client: string, signal: AbortSignal): Promise<Disposable>;
}

/** Keeps a semaphore for each client that holds a permit or waits for one, and for no others. */
export function createClientSemaphores(options: SemaphoreOptions): ClientSemaphores {
  const known = new Map<string, { readonly semaphore: Semaphore; users: number }>();
  return {
    acquire: async (client, signal) => {
      const found = known.get(client) ?? { semaphore: createSemaphore(options), users: 0 };
      known.set(client, found);
      found.users += 1;
      const leave = (): void => {
        found.users -= 1;
        if (found.users === 0) known.delete(client);
      };
      try {
        const permit = await found.semaphore.acquire(signal);
        let isReleased = false;
        return {
          [Symbol.dispose]: () => {
            if (isReleased) return;
            isReleased = true;
            permit[Symbol.dispose]();
            leave();
          },
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
