import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** How long to wait for the database to come back after a COMMIT without a response, and how often to ask. */
const COMMIT_WAIT_MS = 5_000;
const COMMIT_POLL_MS = 100;

/** Whether a transaction committed. False also where this cannot be found out in time. @param id number of the transaction */
export async function hasCommitted(pool: pg.Pool, id: string): Promise<boolean> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < COMMIT_WAIT_MS) {
    const status = await pool
      .query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [id])
      .then(
        ({ rows }) => rows[0]?.status ?? null,
        () => 'unknown',
      );
    if (status === 'committed') return true;
    if (status !== 'in progress' && status !== 'unknown') return false;
    await delay(COMMIT_POLL_MS);
  }
  return false;
}
