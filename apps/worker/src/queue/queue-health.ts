import type { Logger } from '@svc/service';

/** Whether the queue can be reached, as its last query showed. */
export interface QueueHealth {
  readonly isWorking: boolean;
  /** How long every query has succeeded, in milliseconds; 0 after one that failed. */
  reachableMs(): number;
  succeeded(): void;
  /** Logs the first failure of an outage. */
  failed(error: unknown): void;
}

export function createQueueHealth(logger: Logger): QueueHealth {
  let isWorking = true;
  let reachableSinceMs: number | undefined;
  return {
    get isWorking() {
      return isWorking && reachableSinceMs !== undefined;
    },
    reachableMs: () => (reachableSinceMs === undefined ? 0 : performance.now() - reachableSinceMs),
    succeeded: () => {
      isWorking = true;
      reachableSinceMs ??= performance.now();
    },
    failed: (error) => {
      if (isWorking) logger.log('queue.error', { error });
      isWorking = false;
      reachableSinceMs = undefined;
    },
  };
}
