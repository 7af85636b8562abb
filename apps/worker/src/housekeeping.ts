import type { Logger } from '@svc/service';
import type { HubFileLimits, Store } from '@svc/service/store';
import { pause } from './queue/wait.ts';

const PURGE_INTERVAL_MS = 60 * 60 * 1000;
const COLLECT_INTERVAL_MS = 60 * 1000;
const RETRY_MS = 10_000;

/**
 * Deletes what has expired or belongs to nothing, and prepares look-ups by hash in new datasets. Any number of processes may
 * do so concurrently. Returns what stops it.
 */
export function startHousekeeping(
  store: Pick<Store, 'idempotency' | 'assets' | 'datasets' | 'runs' | 'hubFiles' | 'audit'>,
  { hubFileLimits, auditDays }: { readonly hubFileLimits: HubFileLimits; readonly auditDays: number },
  logger: Logger,
): () => Promise<void> {
  const stopping = new AbortController();

  async function repeat(task: string, work: () => Promise<unknown>, intervalMs: number): Promise<void> {
    let isWorking = true;
    while (!stopping.signal.aborted) {
      const wasWorking = isWorking;
      isWorking = await work().then(
        () => true,
        (error: unknown) => {
          if (wasWorking && !stopping.signal.aborted) logger.log('housekeeping.fail', { task, error });
          return false;
        },
      );
      await pause(isWorking ? intervalMs : RETRY_MS, stopping.signal);
    }
  }

  const running = [
    repeat('keys', () => store.idempotency.purgeExpired(), PURGE_INTERVAL_MS),
    repeat('audit', () => store.audit.purge(auditDays), PURGE_INTERVAL_MS),
    repeat('assets', () => store.assets.collect(stopping.signal), COLLECT_INTERVAL_MS),
    repeat('hub files', () => store.hubFiles.collect(hubFileLimits), COLLECT_INTERVAL_MS),
    repeat('items', () => store.datasets.collect(stopping.signal), COLLECT_INTERVAL_MS),
    repeat('trials', () => store.runs.deleteTrials(), COLLECT_INTERVAL_MS),
    repeat('results', () => store.runs.collect(stopping.signal), COLLECT_INTERVAL_MS),
    repeat('hashes', () => store.datasets.indexHashes(stopping.signal), COLLECT_INTERVAL_MS),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}
