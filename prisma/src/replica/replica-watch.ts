import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { committedPosition, isReplicaOf, replayedPosition } from './positions.ts';

/**
 * - `current`: reads go to the replica
 * - `behind`: it needs too long to replay what is committed
 * - `unreachable`: it does not respond
 * - `not_a_replica`: the server is another one, or was promoted
 */
export type ReplicaState = 'current' | 'behind' | 'unreachable' | 'not_a_replica';

/** How long a read waits until the replica has replayed what was committed before it. */
const CATCH_UP_MS = 100;
const POLL_MS = 2;
/** How often a replica that is not current is asked whether it is again, and how long it may take to respond. */
const PROBE_MS = 1_000;
const RESPONSE_MS = 5_000;

interface ReplicaWatchOptions {
  readonly primary: pg.Pool;
  readonly replica: pg.Pool;
  /** Called when the state changes. */
  readonly onChange: (state: ReplicaState) => void;
}

/**
 * Lets reads go to a replica that shows everything that was committed before they began. Asks the primary for the position
 * of its log, and the replica for the one that it has replayed: reads that begin at the same time share both queries.
 *
 * A replica that is not current is left alone, and tried again every second.
 */
export class ReplicaWatch {
  readonly #options: ReplicaWatchOptions;
  readonly #closing = new AbortController();
  readonly #committed: () => Promise<bigint>;
  readonly #askReplica: () => Promise<bigint>;
  #state: ReplicaState | 'unknown' = 'unknown';
  #probing: Promise<void> | undefined;

  constructor(options: ReplicaWatchOptions) {
    this.#options = options;
    this.#committed = shareNext(() => committedPosition(options.primary));
    this.#askReplica = shareNext(() => inTime(replayedPosition(options.replica)));
    this.#probe();
  }

  /** `unreachable` until it has responded for the first time. */
  get state(): ReplicaState {
    return this.#state === 'unknown' ? 'unreachable' : this.#state;
  }

  /** Whether the replica shows everything that was committed before the call. Never throws. */
  async admits(): Promise<boolean> {
    if (this.#state !== 'current') return false;
    let position: bigint;
    try {
      position = await this.#committed();
    } catch {
      return false; // The read finds out by itself what the primary lacks.
    }
    const state = await this.#catchUp(position);
    if (state !== 'current') this.#leave(state);
    return state === 'current';
  }

  /** A read failed because of the replica: asks whether it still responds. */
  suspect(): void {
    if (this.#state === 'current') this.#leave('unreachable');
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#probing;
  }

  async #catchUp(position: bigint): Promise<ReplicaState> {
    const startMs = performance.now();
    try {
      while ((await this.#askReplica()) < position) {
        if (performance.now() - startMs > CATCH_UP_MS) return 'behind';
        await delay(POLL_MS);
      }
      return 'current';
    } catch {
      return 'unreachable';
    }
  }

  #leave(state: ReplicaState): void {
    this.#set(state);
    this.#probe();
  }

  #set(state: ReplicaState): void {
    if (this.#closing.signal.aborted || state === this.#state) return;
    this.#state = state;
    this.#options.onChange(state);
  }

  /** Asks until the replica is current. */
  #probe(): void {
    this.#probing ??= (async () => {
      const { signal } = this.#closing;
      while (!signal.aborted) {
        const state = await this.#look();
        if (state !== null) this.#set(state);
        if (state === 'current') break;
        await delay(PROBE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
      this.#probing = undefined;
    })();
  }

  /** Null when the primary cannot be asked. */
  async #look(): Promise<ReplicaState | null> {
    const { primary, replica } = this.#options;
    const position = await this.#committed().catch(() => null);
    if (position === null) return null;
    try {
      if (!(await inTime(isReplicaOf(replica, primary)))) return 'not_a_replica';
    } catch {
      return 'unreachable';
    }
    return await this.#catchUp(position);
  }
}

/** Waits for a response of the replica for a short time only. */
async function inTime<T>(response: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(RESPONSE_MS, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error('The replica does not respond.');
  });
  try {
    return await Promise.race([response, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

/**
 * Calls that come while one is working share the next one, which begins after all of them.
 *
 * @returns `work`; at most one call works and one waits
 */
function shareNext<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    const current = work().finally(() => {
      if (running === current) running = undefined;
    });
    running = current;
    return current;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
