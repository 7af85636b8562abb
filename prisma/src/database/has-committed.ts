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
 * Whether a statement without a response has stored a dataset.
 *
 * @param processId of the server's process that had the statement: until it has ended, it may still store the dataset
 * @returns when the dataset was created; null if it is not stored, also where this cannot be found out in time
 */
export async function findStored(pool: pg.Pool, datasetId: string, processId: number): Promise<Date | null> {
  const createdAt = await askUntilKnown(async () => {
    // Asked first: what the process has stored by its end is seen by every later statement.
    const working = await pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [processId]);
    const { rows } = await pool.query<{ created_at: Date }>('SELECT created_at FROM datasets WHERE id = $1', [
      datasetId,
    ]);
    return rows[0]?.created_at ?? (working.rowCount === 0 ? null : undefined);
  });
  return createdAt ?? null;
}

/** Asks until there is an answer, also while the database cannot be reached. */
async function askUntilKnown<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < COMMIT_WAIT_MS) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
    await delay(COMMIT_POLL_MS);
  }
  return undefined;
}
