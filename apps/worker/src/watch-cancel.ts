import type { Logger, Metrics } from '@svc/service';
import { runCancelled } from '@svc/service/evaluation';
import type { Cancellations } from '@svc/service/store';
import { createNotifier } from './queue/wait.ts';

export interface WatchCancelOptions {
  /** Queries the cancellations among these runs and jobs, and the interval, in one statement. */
  readonly cancellationsAmong: (ids: readonly string[]) => Promise<Cancellations>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export type CancelWatch = ReturnType<typeof createCancelWatch>;

/** Until the first query returns the setting. */
const FIRST_INTERVAL_MS = 2_000;

/**
 * Asks for all that this process works on by one query, which also returns the interval: a change of it takes effect at the
 * next check. Nothing is queried while nothing is watched.
 */
export function createCancelWatch({ cancellationsAmong, logger, metrics }: WatchCancelOptions) {
  const watched = new Map<string, AbortController>();
  const stopping = new AbortController();
  const notifier = createNotifier();
  let intervalMs = FIRST_INTERVAL_MS;
  let dueMs = 0;

  const cancel = (id: string): void => watched.get(id)?.abort(runCancelled());

  async function ask(): Promise<void> {
    const startMs = performance.now();
    dueMs = startMs + intervalMs;
    try {
      const { cancelled, checkIntervalMs } = await cancellationsAmong([...watched.keys()]);
      intervalMs = checkIntervalMs;
      for (const id of cancelled) cancel(id);
    } catch (error) {
      logger.log('worker.cancel_poll.fail', { error });
    }
    dueMs = startMs + intervalMs;
    metrics.recordCancelPoll({ queries: 1, durationMs: performance.now() - startMs });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waitMs = watched.size === 0 ? MAX_TIMER_MS : dueMs - performance.now();
      if (waitMs > 0) await notifier.wait(waitMs, stopping.signal);
      else await ask();
    }
  }
  const running = run();

  return {
    watch: (id: string): Disposable & { readonly signal: AbortSignal } => {
      const controller = new AbortController();
      watched.set(id, controller);
      // ends the wait without a limit, if nothing was watched before
      if (watched.size === 1) notifier.notify();
      return {
        /** Aborted with `runCancelled()` when the run or job is cancelled, has ended or was deleted. */
        signal: controller.signal,
        [Symbol.dispose]: () => {
          if (watched.get(id) === controller) watched.delete(id);
        },
      };
    },
    /** This run or job was cancelled just now. */
    notify: cancel,
    /** Notifications may have been lost: query now. */
    check: () => {
      dueMs = 0;
      notifier.notify();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

const MAX_TIMER_MS = 2 ** 31 - 1;
