import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Metrics } from '@svc/instrumentation';
import { MinuteHistory, REPORT_MS, type Store, type WorkerReport } from '@svc/store';

/** The requests of this process to model providers by minute, next to the metrics that count them. */
export function withHistory(metrics: Metrics): {
  readonly metrics: Metrics;
  readonly history: MinuteHistory;
} {
  const history = new MinuteHistory();
  return {
    history,
    metrics: {
      ...metrics,
      recordProviderRequest(done) {
        metrics.recordProviderRequest(done);
        history.add(done.outcome !== 'ok', Date.now());
      },
    },
  };
}

/**
 * Reports every few seconds what this worker does, to the processes that show it. A report that cannot be sent is not an
 * error: the next one says the same, and more.
 *
 * @returns what stops it
 */
export function startReports(
  store: Pick<Store, 'reportWorker'>,
  read: () => Pick<WorkerReport, 'version' | 'concurrency' | 'running' | 'provider'>,
): () => void {
  const stopping = new AbortController();
  const own = { id: randomUUID(), startedAtMs: Date.now() };

  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      await store.reportWorker({ ...own, ...read() }).catch(() => undefined);
      await delay(REPORT_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  void repeat();
  return () => stopping.abort();
}
