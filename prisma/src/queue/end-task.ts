import type pg from 'pg';
import type { TaskTable } from './task-queue.ts';

/** Whether no worker works on a run or job: none has claimed it, or clients do its work. */
const IS_IDLE = `status = 'queued' OR available_at = 'infinity'`;

/**
 * Requests the end of a run or job. One that no worker has claimed ends as cancelled immediately; a running one becomes
 * `cancelling`, and its worker is notified.
 *
 * @param columns to return
 * @returns the row, and whether no one had requested it before; undefined when it has ended before or does not exist
 */
export async function cancelTask<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  table: TaskTable,
  columns: string,
  id: string,
): Promise<{ readonly row: Row; readonly isFirst: boolean } | undefined> {
  // Nothing else sets it: the row is locked by then.
  const before = await client.query<{ isFirst: boolean }>(
    `SELECT cancel_requested_at IS NULL AS "isFirst" FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  const { rows } = await client.query<Row>(
    `UPDATE ${table} SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
       status = CASE WHEN ${IS_IDLE} THEN 'cancelled' ELSE 'cancelling' END,
       finished_at = CASE WHEN ${IS_IDLE} THEN clock_timestamp() END
       ${table === 'jobs' ? `, sealed_token = CASE WHEN NOT (${IS_IDLE}) THEN sealed_token END` : ''}
     WHERE id = $1 AND finished_at IS NULL RETURNING ${columns}`,
    [id],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  await client.query(`SELECT pg_notify('svc_cancel', $1)`, [id]);
  return { row, isFirst: before.rows[0]?.isFirst === true };
}

/**
 * Ends a run or job that cannot be done: as cancelled where that was requested, else as failed.
 *
 * @param error as JSON text
 * @returns the status, or null when it has ended before
 */
export async function failTask(
  client: pg.ClientBase | pg.Pool,
  table: TaskTable,
  id: string,
  error: string,
): Promise<'failed' | 'cancelled' | null> {
  const { rows } = await client.query<{ status: 'failed' | 'cancelled' }>(
    `UPDATE ${table} SET status = CASE WHEN cancel_requested_at IS NULL THEN 'failed' ELSE 'cancelled' END,
       error = CASE WHEN cancel_requested_at IS NULL THEN $2 END, finished_at = clock_timestamp()
       ${table === 'jobs' ? ', sealed_token = NULL' : ''}
     WHERE id = $1 AND finished_at IS NULL RETURNING status`,
    [id, error],
  );
  return rows[0]?.status ?? null;
}
