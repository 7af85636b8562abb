import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** How long to wait for the database to come back after a commit without a response, and how often to ask. */
const COMMIT_WAIT_MS = 5_000;
const COMMIT_POLL_MS = 100;

/** Whether a transaction committed. False also where this cannot be found out in time. @param id number of the transaction */
export async function hasCommitted(pool: pg.Pool, id: string): Promise<boolean> {
  const committed = await askUntilKnown(async () => {
    const { rows } = await pool.query<{ status: string | null }>(
      'SELECT pg_xact_status($1::xid8) AS status',
      [id],
    );
    const status = rows[0]?.status ?? null;
    return status === 'in progress' ? undefined : status === 'committed';
  });
  return committed ?? false;
}

/**
 * Asks until there is an answer, also while the database cannot be reached; undefined if there is none within five seconds.
 *
 * @param ask resolves to undefined while the answer is not known; may throw
 */
export async function askUntilKnown<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < COMMIT_WAIT_MS) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
    await delay(COMMIT_POLL_MS);
  }
  return undefined;
}
