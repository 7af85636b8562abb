import { statfs } from 'node:fs/promises';
import { untilAborted } from './async-loops.ts';

export interface SemaphoreOptions {
  readonly permits: number;
  /** How many of them one client holds; all of them by default. */
  readonly permitsPerClient?: number;
  readonly waitMs: number;
  readonly timeoutError: () => Error;
}

interface Claim {
  readonly client: string;
  readonly permits: number;
}

interface Waiter extends Claim {
  readonly admit: () => void;
}

/**
 * Limits how many callers work concurrently. The others wait for a bounded time, in order of arrival: callers that want few
 * permits do not pass one that wants many, but all pass a caller that waits for its own client's share.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #permitsPerClient: number;
  #free: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  readonly #onIdle = new Set<() => void>();

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
    this.#permitsPerClient = Math.min(options.permitsPerClient ?? options.permits, options.permits);
  }

  /**
   * Waits for permits: `using _permit = await semaphore.acquire(signal)`. Disposing of them releases them. A claim to more
   * than one client may hold counts as all of those.
   *
   * @throws the error of `timeoutError` when they are not released in time; the reason of `signal` when it aborts
   */
  async acquire(
    signal?: AbortSignal,
    { permits = 1, client = '' }: Partial<Claim> = {},
  ): Promise<Disposable> {
    signal?.throwIfAborted();
    const claim: Claim = { client, permits: Math.min(permits, this.#permitsPerClient) };
    if (this.#isFirst(claim) && claim.permits <= this.#free) this.#take(claim);
    else await this.#wait(claim, signal);
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#release(claim);
      },
    };
  }

  async idle(signal: AbortSignal): Promise<void> {
    while (this.#free < this.#options.permits) {
      await untilAborted(new Promise<void>((resolve) => this.#onIdle.add(resolve)), signal);
    }
  }

  /** Whether admission depends on the free permits only, not on the caller's share or on earlier callers. */
  #isFirst(claim: Claim): boolean {
    if (!this.#hasShare(claim)) return false;
    for (const waiter of this.#waiting) if (this.#hasShare(waiter)) return false;
    return true;
  }

  /** Whether a client may hold this many more. If one client may hold all permits, only the free ones count. */
  #hasShare({ client, permits }: Claim): boolean {
    if (this.#permitsPerClient === this.#options.permits) return true;
    return (this.#held.get(client) ?? 0) + permits <= this.#permitsPerClient;
  }

  #take({ client, permits }: Claim): void {
    this.#free -= permits;
    this.#held.set(client, (this.#held.get(client) ?? 0) + permits);
  }

  #release({ client, permits }: Claim): void {
    this.#free += permits;
    const held = (this.#held.get(client) ?? 0) - permits;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
    this.#admitWaiting();
    if (this.#free < this.#options.permits) return;
    for (const resume of this.#onIdle) resume();
    this.#onIdle.clear();
  }

  /** The callers that have waited longest take their permits here, so that no new caller can come first. */
  #admitWaiting(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasShare(waiter)) continue;
      if (waiter.permits > this.#free) return;
      this.#take(waiter);
      waiter.admit();
    }
  }

  #wait(claim: Claim, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
        action();
      };
      const fail = (reason: unknown): void => {
        settle(() => reject(reason));
        // The next in the queue may want fewer permits.
        this.#admitWaiting();
      };
      const waiter: Waiter = { ...claim, admit: () => settle(resolve) };
      const onAbort = (): void => fail(signal?.reason);
      const { waitMs, timeoutError } = this.#options;
      const timer = setTimeout(() => fail(timeoutError()), waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }
}

/** Why there is no room, for a log. */
export class DiskShortage extends Error {
  override readonly name = 'DiskShortage';
}

export type DiskShare<K> = ReturnType<typeof createDiskShare<K>>;

/** The share of a disk that users may take together: a percentage of what is free without what they have written. */
export function createDiskShare<K>(
  sharePercent: number,
  freeBytes: () => Promise<number>,
  writtenBytes: (users: Iterable<K>) => number | Promise<number>,
) {
  const promised = new Map<K, number>();
  return {
    /** Promises a user room, before it is used. @throws DiskShortage */
    async reserve(user: K, bytes: number): Promise<void> {
      const before = promised.get(user) ?? 0;
      if (bytes <= before) return;
      // Reserve before checking, so that two concurrent calls do not get the same space.
      promised.set(user, bytes);
      const free = await freeBytes();
      const written = await writtenBytes(promised.keys());
      const sum = [...promised.values()].reduce((all, one) => all + one, 0);
      if (sum <= ((free + written) * sharePercent) / 100) return;
      promised.set(user, before);
      throw new DiskShortage(
        `Cannot reserve ${sum} bytes: ${free} bytes are free, and ${written} bytes are written already.`,
      );
    },

    release: (user: K): void => void promised.delete(user),
  };
}

/** Bytes that an ordinary user can still write to the disk of a folder. */
export async function freeDiskBytes(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder);
  // some file systems do not report their size
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
