import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, type Metrics, runWithContext } from '@svc/observability';
import type { Store } from '@svc/store';

export interface HousekeepingOptions {
  readonly store: Pick<Store, 'runs' | 'jobs' | 'idempotency'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const INTERVAL_MS = 10_000;
/** Idempotency keys live for a day; when exactly they go is nobody's concern. */
const SWEEP_EVERY = 360;
/** The tries that a task has. */
const LAST_ATTEMPT = 3;

/**
 * Ends what no worker will end any more, because the last one that took it died: runs and jobs whose tasks are gone
 * from the queue. Any number of processes may do so at once; each end is told of by one of them.
 *
 * @returns what stops it
 */
export function startHousekeeping({ store, logger, metrics }: HousekeepingOptions): () => Promise<void> {
  const stopping = new AbortController();

  async function failOrphaned(): Promise<void> {
    for (const run of await store.runs.failOrphaned()) {
      const status = run.status === 'cancelled' ? 'cancelled' : 'failed';
      metrics.recordRun(status);
      told('run', run.id, run.requestId, status);
    }
    for (const job of await store.jobs.failOrphaned()) {
      told(job.kind, job.id, job.requestId, job.status === 'cancelled' ? 'cancelled' : 'failed');
    }
  }

  function told(
    kind: 'run' | 'import' | 'upload',
    id: string,
    requestId: string | null,
    status: 'failed' | 'cancelled',
  ): void {
    runWithContext({ request_id: requestId ?? undefined, job_id: id }, () => {
      if (status === 'cancelled') logger.log('job.cancel', { kind, stage: 'cancelled' });
      else logger.log('job.fail', { kind, attempt: LAST_ATTEMPT, code: 'worker_lost', duration_ms: 0 });
    });
  }

  async function run(): Promise<void> {
    for (let round = 0; !stopping.signal.aborted; round++) {
      try {
        await failOrphaned();
        if (round % SWEEP_EVERY === 0) await store.idempotency.purgeExpired();
      } catch {
        // The database is away, which others tell of; the next round tries again.
      }
      await delay(INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
