import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** The number of the transaction that a connection has begun, for {@link hasCommitted}. */
export async function transactionIdOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  return (rows[0] as { id: string }).id;
}

/** How long to wait for the database to come back after a commit without a response, and how often to ask. */
const COMMIT_WAIT_MS = 5_000;
const COMMIT_POLL_MS = 100;

/** Whether a transaction committed. False also where this cannot be found out in time. @param id number of the transaction */
export async function hasCommitted(pool: pg.Pool, id: string): Promise<boolean> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < COMMIT_WAIT_MS) {
    const status = await statusOf(pool, id).catch(() => undefined);
    if (status !== undefined && status !== 'in progress') return status === 'committed';
    await delay(COMMIT_POLL_MS);
  }
  return false;
}

/** Null for a transaction that is too old to be known. */
async function statusOf(pool: pg.Pool, id: string): Promise<string | null> {
  const { rows } = await pool.query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [
    id,
  ]);
  return rows[0]?.status ?? null;
}
