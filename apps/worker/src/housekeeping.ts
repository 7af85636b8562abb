import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '@svc/store';

const INTERVAL_MS = 60 * 60 * 1000;
const RETRY_MS = 10_000;

/**
 * Deletes idempotency keys that have expired, every hour. Any number of processes may do so at once.
 *
 * @returns what stops it
 */
export function startHousekeeping({ idempotency }: Pick<Store, 'idempotency'>): () => Promise<void> {
  const stopping = new AbortController();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const purged = await idempotency.purgeExpired().then(
        () => true,
        () => false, // the queue logs that the database is unavailable
      );
      const pauseMs = purged ? INTERVAL_MS : RETRY_MS;
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
