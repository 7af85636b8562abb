import type { Logger } from '@svc/service';
import { LEASE_MS, type TaskQueue } from '@svc/store';
import { createQueueHealth } from './perform-task.ts';
import { pause } from './wait.ts';
import { type PoolOptions, WorkerPool } from './worker-pool.ts';

export interface QueueOptions {
  readonly queue: TaskQueue;
  readonly logger: Logger;
  readonly pools: readonly PoolOptions[];
}

export interface RunningQueue {
  /** A task may have become due: look now. */
  wake(): void;
  /** Whether the last query of the queue succeeded. */
  isWorking(): boolean;
  /** The tasks that it works on now, in the order of the pools. */
  sizes(): readonly number[];
  /**
   * Takes no more tasks. Resumable tasks are released immediately; the others may end until `signal` aborts and are then
   * released too.
   */
  stop(signal: AbortSignal): Promise<void>;
}

/** A quarter of the lease, so that two lost heartbeats do no harm. */
const HEARTBEAT_MS = LEASE_MS / 4;

/**
 * Works on the queue: claims tasks, keeps their leases and settles them.
 *
 * Resolves after the first attempt to claim tasks. Where that fails, since the database is unavailable or not migrated yet,
 * the worker tries again until it succeeds or stops.
 */
export async function startQueue({ queue, logger, pools: options }: QueueOptions): Promise<RunningQueue> {
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
    wake: () => {
      for (const pool of pools) pool.wake();
    },
    isWorking: () => health.isWorking && !stopping.signal.aborted,
    sizes: () => pools.map(({ size }) => size),
    async stop(signal) {
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
