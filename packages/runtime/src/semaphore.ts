export interface SemaphoreOptions {
  /** How many callers hold a permit at once. */
  readonly permits: number;
  /** How many of them one client holds at once; all of them by default. */
  readonly permitsPerClient?: number;
  /** How long a caller waits for a permit. */
  readonly waitMs: number;
  /** Makes the error for a caller that waited that long. */
  readonly timeoutError: () => Error;
}

interface Waiter {
  readonly client: string;
  readonly admit: () => void;
}

/** Limits how many callers work at once. The others wait for a bounded time, in order of arrival. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #permitsPerClient: number;
  #free: number;
  /** Permits that each client holds now. */
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
    this.#permitsPerClient = options.permitsPerClient ?? options.permits;
  }

  /**
   * Waits for a permit: `using _permit = await semaphore.acquire(signal)`. Disposing of it releases it.
   *
   * @param client whose share the permit counts to
   * @throws the error of `timeoutError` when no permit is released in time; the reason of `signal` when it aborts
   */
  async acquire(signal: AbortSignal, client = ''): Promise<Disposable> {
    signal.throwIfAborted();
    if (!this.#take(client)) await this.#wait(signal, client);
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (!isReleased) this.#release(client);
        isReleased = true;
      },
    };
  }

  #take(client: string): boolean {
    const held = this.#held.get(client) ?? 0;
    if (this.#free < 1 || held >= this.#permitsPerClient) return false;
    this.#free -= 1;
    this.#held.set(client, held + 1);
    return true;
  }

  #release(client: string): void {
    this.#free += 1;
    const held = this.#held.get(client) ?? 0;
    if (held > 1) this.#held.set(client, held - 1);
    else this.#held.delete(client);
    // The caller that has waited longest takes the permit here, so that no new caller can come first.
    for (const waiter of this.#waiting) {
      if (!this.#take(waiter.client)) continue;
      waiter.admit();
      return;
    }
  }

  #wait(signal: AbortSignal, client: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', onAbort);
        action();
      };
      const waiter: Waiter = { client, admit: () => settle(resolve) };
      const onAbort = (): void => settle(() => reject(signal.reason));
      const { waitMs, timeoutError } = this.#options;
      const timer = setTimeout(() => settle(() => reject(timeoutError())), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }
}
