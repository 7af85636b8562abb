import { runWithContext } from '@svc/observability';
import type { Logger } from '@svc/service';
import {
  actAs,
  type ClaimedTask,
  LEASE_MS,
  type TaskKind,
  type TaskQueue,
  type TaskTable,
} from '@svc/service/store';
import {
  createQueueHealth,
  LeaseLostError,
  type PerformDeps,
  performTask,
  ReleaseError,
  type TaskHandler,
} from './perform-task.ts';
import { createNotifier, pause } from './wait.ts';

interface PoolOptions {
  readonly table: TaskTable;
  readonly handlers: Readonly<Partial<Record<TaskKind, TaskHandler>>>;
  readonly concurrency: number;
  /** Whether an interrupted task continues where it stopped, so that releasing it costs nothing. */
  readonly resumable: boolean;
}

interface HeldTask {
  readonly claimed: ClaimedTask;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** A task waits at most this long where no notification arrives. */
const POLL_MS = 2_000;
/** After an outage of the database every worker has this long for a heartbeat before others claim its tasks. */
const GRACE_MS = (LEASE_MS * 3) / 4;

class WorkerPool {
  readonly resumable: boolean;
  readonly #options: PoolOptions;
  readonly #deps: PerformDeps;
  readonly #held = new Set<HeldTask>();
  readonly #notifier = createNotifier();

  constructor(options: PoolOptions, deps: PerformDeps) {
    this.resumable = options.resumable;
    this.#options = options;
    this.#deps = deps;
  }

  get size(): number {
    return this.#held.size;
  }

  async serve(): Promise<void> {
    while (!this.#deps.stopping.aborted) {
      await this.claim();
      await this.#notifier.wait(POLL_MS, this.#deps.stopping);
    }
  }

  async claim(): Promise<void> {
    const { queue, health } = this.#deps;
    const { table, concurrency } = this.#options;
    const free = concurrency - this.#held.size;
    if (free <= 0) return;
    try {
      const tasks = await queue.claim(table, free, health.reachableMs() >= GRACE_MS);
      health.succeeded();
      for (const task of tasks) this.#begin(task);
    } catch (error) {
      health.failed(error);
    }
  }

  /** A task may have become due. */
  wake(): void {
    this.#notifier.notify();
  }

  async extendLeases(): Promise<void> {
    const held = [...this.#held];
    if (held.length === 0) return;
    const claims = held.map(({ claimed }) => claimed.claim);
    const lost = new Set(await this.#deps.queue.extend(this.#options.table, claims));
    for (const { claimed, controller } of held) {
      if (lost.has(claimed.claim.id)) controller.abort(new LeaseLostError());
    }
  }

  release(): void {
    for (const { controller } of this.#held) controller.abort(new ReleaseError('stopping'));
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#held].map(({ ended }) => ended));
  }

  #begin(claimed: ClaimedTask): void {
    const handler = this.#options.handlers[claimed.kind];
    if (handler === undefined) throw new Error(`No handler for tasks of kind ${claimed.kind}.`);
    // A claim of a task that is still held here, after its lease expired, replaces the claim before.
    for (const { claimed: older, controller } of this.#held) {
      if (older.claim.id === claimed.claim.id) controller.abort(new LeaseLostError());
    }
    const controller = new AbortController();
    const { actor, claim } = claimed;
    const context = { request_id: actor.requestId ?? undefined, actor: actor.name, job_id: claim.id };
    const ended = actAs(actor, () =>
      runWithContext(context, () => performTask(claimed, handler, controller.signal, this.#deps)),
    ).finally(() => {
      this.#held.delete(held);
      this.#notifier.notify();
    });
    const held: HeldTask = { claimed, controller, ended };
    this.#held.add(held);
  }
}

/** A quarter of the lease, so that two lost heartbeats do no harm. */
const HEARTBEAT_MS = LEASE_MS / 4;

/**
 * Resolves after the first attempt to claim tasks. Where that fails, since the database is unavailable or not migrated yet,
 * the worker tries again until it succeeds or stops.
 */
export async function startQueue(queue: TaskQueue, logger: Logger, options: readonly PoolOptions[]) {
  const health = createQueueHealth(logger);
  const stopping = new AbortController();
  const leaving = new AbortController();
  const stopped = new AbortController();
  const deps = { queue, logger, health, stopping: stopping.signal, leaving: leaving.signal };
  const pools = options.map((pool) => new WorkerPool(pool, deps));

  async function sendHeartbeats(): Promise<void> {
    for (;;) {
      await pause(HEARTBEAT_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        for (const pool of pools) await pool.extendLeases();
      } catch (error) {
        health.failed(error);
      }
    }
  }

  await Promise.all(pools.map((pool) => pool.claim()));
  const serving = pools.map((pool) => pool.serve());
  const heartbeats = sendHeartbeats();

  return {
    /** A task may have become due: look now. */
    wake: () => {
      for (const pool of pools) pool.wake();
    },
    isWorking: () => health.isWorking && !stopping.signal.aborted,
    sizes: () => pools.map(({ size }) => size),
    /** Releases resumable tasks immediately, and the others when `signal` aborts. */
    async stop(signal: AbortSignal): Promise<void> {
      stopping.abort();
      await Promise.all(serving);
      for (const pool of pools) if (pool.resumable) pool.release();
      const onLate = (): void => {
        for (const pool of pools) pool.release();
        leaving.abort();
      };
      if (signal.aborted) onLate();
      else signal.addEventListener('abort', onLate, { once: true });
      await Promise.all(pools.map((pool) => pool.settled()));
      signal.removeEventListener('abort', onLate);
      stopped.abort();
      await heartbeats;
      await queue.close();
    },
  };
}
