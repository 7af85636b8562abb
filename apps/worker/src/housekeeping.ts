import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '@svc/store';

const PURGE_INTERVAL_MS = 60 * 60 * 1000;
const COLLECT_INTERVAL_MS = 60 * 1000;
const INDEX_INTERVAL_MS = 60 * 1000;
const RETRY_MS = 10_000;

/**
 * Deletes idempotency keys that have expired, every hour, and every minute assets and items that belong to no dataset, and
 * prepares look-ups by hash in new datasets. Any number of processes may do so at once.
 *
 * @returns what stops it
 */
export function startHousekeeping({
  idempotency,
  assets,
  datasets,
}: Pick<Store, 'idempotency' | 'assets' | 'datasets'>): () => Promise<void> {
  const stopping = new AbortController();

  async function repeat(work: () => Promise<unknown>, intervalMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      const done = await work().then(
        () => true,
        () => false, // the queue logs that the database is unavailable
      );
      const pauseMs = done ? intervalMs : RETRY_MS;
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = [
    repeat(() => idempotency.purgeExpired(), PURGE_INTERVAL_MS),
    repeat(() => assets.collect(stopping.signal), COLLECT_INTERVAL_MS),
    repeat(() => datasets.collect(stopping.signal), COLLECT_INTERVAL_MS),
    repeat(() => datasets.indexHashes(stopping.signal), INDEX_INTERVAL_MS),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}
