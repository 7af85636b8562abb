import { runCancelled } from '@svc/evaluation';
import type { Logger, Metrics } from '@svc/observability';
import type { Cancellations } from '@svc/store';
import { createNotifier } from './queue/notifier.ts';

export interface WatchCancelOptions {
  /** Asks for all of these runs and jobs at once, and for the interval: one query. */
  readonly cancellationsAmong: (ids: readonly string[]) => Promise<Cancellations>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A run or job whose end may be asked for. Disposing of it ends the watch. */
interface Watched extends Disposable {
  /** Aborted with `runCancelled()` once the end was asked for, or there is nothing left to work on. */
  readonly signal: AbortSignal;
}

/** Watches over everything that this process works on. */
export interface CancelWatch {
  watch(id: string): Watched;
  /** The end of this run or job was asked for just now. */
  notify(id: string): void;
  /** Notifications may have been lost: ask now. */
  check(): void;
  stop(): Promise<void>;
}

/** Until the first answer says otherwise. */
const FIRST_INTERVAL_MS = 2_000;

/**
 * Asks every interval, with one query for everything that is watched, whether an end was asked for. The interval is
 * read with the same query, so that a change holds from the next check on. Nothing is asked while nothing is watched.
 */
export function createCancelWatch({ cancellationsAmong, logger, metrics }: WatchCancelOptions): CancelWatch {
  const watched = new Map<string, AbortController>();
  const stopping = new AbortController();
  const bell = createNotifier();
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
      if (waitMs > 0) await bell.wait(waitMs, stopping.signal);
      else await ask();
    }
  }
  const running = run();

  return {
    watch: (id) => {
      const controller = new AbortController();
      watched.set(id, controller);
      // The sleep without an end, if there was nothing to watch before.
      if (watched.size === 1) bell.notify();
      return {
        signal: controller.signal,
        [Symbol.dispose]: () => {
          if (watched.get(id) === controller) watched.delete(id);
        },
      };
    },
    notify: cancel,
    check: () => {
      dueMs = 0;
      bell.notify();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

const MAX_TIMER_MS = 2 ** 31 - 1;
