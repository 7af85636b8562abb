import type { Logger } from '@svc/service';
import { type ClaimedTask, MAX_ATTEMPTS, StoreError, type TaskQueue } from '@svc/store';
import { pause } from '../pause.ts';
import { errorCode, isStoreError } from '../task-failure.ts';
import type { QueueHealth } from './queue-health.ts';
import { LeaseLostError, ReleaseError, type Task, type TaskEnd, type TaskHandler } from './task.ts';

export interface PerformDeps {
  readonly queue: TaskQueue;
  readonly logger: Logger;
  readonly health: QueueHealth;
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
