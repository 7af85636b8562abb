import { askUntilKnown } from '@svc/postgres';
import type pg from 'pg';

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
