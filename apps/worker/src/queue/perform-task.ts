import type { Logger } from '@svc/service';
import {
  type ClaimedTask,
  MAX_ATTEMPTS,
  StoreError,
  type TaskClaim,
  type TaskKind,
  type TaskQueue,
} from '@svc/service/store';
import { errorCode, isStoreError } from '../task-failure.ts';
import { pause } from './wait.ts';

export interface PerformDeps {
  readonly queue: TaskQueue;
  readonly logger: Logger;
  readonly health: ReturnType<typeof createQueueHealth>;
  /** Aborted when the worker takes no more tasks. */
  readonly stopping: AbortSignal;
  /** Aborted when the worker waits for nothing any more. */
  readonly leaving: AbortSignal;
}

/** A worker that cannot reach the database waits this long before it releases its task. */
const UNAVAILABLE_PAUSE_MS = 2_000;
const RETRY_MS = 1_000;

/** Does a claimed task and settles it: done, to be retried, failed for good, or released. Never rejects. */
export async function performTask(
  claimed: ClaimedTask,
  handler: TaskHandler,
  signal: AbortSignal,
  deps: PerformDeps,
): Promise<void> {
  const { queue, logger } = deps;
  const { kind, claim, failedAttempts } = claimed;
  const attempt = Math.min(failedAttempts + 1, MAX_ATTEMPTS);
  const task: Task = { id: claim.id, kind, attempt, claim, signal };
  const startedAt = performance.now();
  if (failedAttempts >= MAX_ATTEMPTS) {
    const end = await settle(() => handler.onRetriesExhausted(task, workerLost()), deps);
    if (end !== undefined) logEnd(end, task, 0, logger);
    return;
  }
  if (claimed.isRecovered) logger.log('job.recover', { kind, attempt });
  const waited_ms = attempt === 1 ? Math.max(0, Math.round(claimed.ageMs)) : undefined;
  logger.log('job.start', { kind, attempt, waited_ms });
  try {
    logEnd(await handler.work(task), task, performance.now() - startedAt, logger);
  } catch (thrown) {
    const error = signal.aborted ? signal.reason : thrown;
    if (error instanceof LeaseLostError || isStoreError(error, 'superseded')) return;
    if (error instanceof ReleaseError || isStoreError(error, 'unavailable')) {
      const reason = error instanceof ReleaseError ? error.reason : 'unavailable';
      logger.log('job.hand_back', { kind, attempt, reason });
      if (reason === 'unavailable') {
        deps.health.failed(error);
        await pause(UNAVAILABLE_PAUSE_MS, deps.stopping);
      }
      await settle(() => queue.release(claimed), deps);
      return;
    }
    await settle(() => queue.retry(claimed), deps);
    if (attempt < MAX_ATTEMPTS) {
      logger.log('job.retry', { kind, attempt, code: errorCode(error) });
      return;
    }
    const end = await settle(() => handler.onRetriesExhausted(task, error), deps);
    if (end !== undefined) logEnd(end, task, performance.now() - startedAt, logger);
  }
}

function logEnd(end: TaskEnd, { kind, attempt }: Task, durationMs: number, logger: Logger): void {
  const duration_ms = Math.round(durationMs);
  if (end.status === 'failed') logger.log('job.fail', { kind, attempt, code: end.code, duration_ms });
  else if (end.status === 'cancelled') logger.log('job.cancel', { kind, stage: 'cancelled', duration_ms });
  else logger.log('job.finish', { kind, attempt, duration_ms });
}

/** Repeats `action` until the database takes it or there is no more time: then the lease expires. */
async function settle<T>(action: () => Promise<T>, { health, leaving }: PerformDeps): Promise<T | undefined> {
  for (;;) {
    try {
      const result = await action();
      health.succeeded();
      return result;
    } catch (error) {
      health.failed(error);
    }
    if (leaving.aborted) return undefined;
    await pause(RETRY_MS, leaving);
  }
}

function workerLost(): StoreError {
  return new StoreError(
    'worker_lost',
    `The work was abandoned after ${MAX_ATTEMPTS} attempts: each worker stopped before finishing.`,
  );
}

export interface Task {
  readonly id: string;
  readonly kind: TaskKind;
  /** From 1; attempts that ended with a shutdown or without a database do not count. */
  readonly attempt: number;
  readonly claim: TaskClaim;
  /** Aborted when this worker must release the task; what `work` then throws does not count. */
  readonly signal: AbortSignal;
}

/** How a task ended that needs no more work; `done` also when there was nothing to do. */
export type TaskEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly code: string };

export interface TaskHandler {
  /**
   * Does a task and ends its run or job. After a throw the task is released: without counting an attempt when the database
   * is unavailable or the worker stops, else as a failed attempt, whose cause the handler has logged.
   */
  work(task: Task): Promise<TaskEnd>;
  /** Ends the run or job of a task whose last attempt failed with `error`. */
  onRetriesExhausted(task: Task, error: unknown): Promise<TaskEnd>;
}

/** The worker must release the task; the attempt does not count. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
  readonly reason: 'stopping' | 'unavailable';

  constructor(reason: ReleaseError['reason']) {
    super(`The worker releases the task: ${reason}.`);
    this.reason = reason;
  }
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor() {
    super('Another worker has claimed the task.');
  }
}

export function createQueueHealth(logger: Logger) {
  let isWorking = true;
  let reachableSinceMs: number | undefined;
  return {
    get isWorking(): boolean {
      return isWorking && reachableSinceMs !== undefined;
    },
    /** How long every query has succeeded, in milliseconds; 0 after one that failed. */
    reachableMs: () => (reachableSinceMs === undefined ? 0 : performance.now() - reachableSinceMs),
    succeeded: () => {
      isWorking = true;
      reachableSinceMs ??= performance.now();
    },
    /** Logs the first failure of an outage. */
    failed: (error: unknown) => {
      if (isWorking) logger.log('queue.error', { error });
      isWorking = false;
      reachableSinceMs = undefined;
    },
  };
}
