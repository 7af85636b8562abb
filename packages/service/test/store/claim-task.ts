import type pg from 'pg';
import type { TaskClaim, TaskTable } from '../../src/store/queue/task-queue.ts';

/** Claims this very run or job as a worker does, also one that another worker holds. */
export async function claimTask(
  client: Pick<pg.Pool, 'query'>,
  table: TaskTable,
  id: string,
): Promise<TaskClaim> {
  const { rows } = await client.query<TaskClaim>(
    `UPDATE ${table} SET attempt = attempt + 1, lease_expires_at = now() + interval '1 minute',
       started_at = coalesce(started_at, clock_timestamp()),
       status = CASE WHEN cancel_requested_at IS NULL THEN 'running' ELSE 'cancelling' END
     WHERE id = $1 AND finished_at IS NULL RETURNING id, attempt`,
    [id],
  );
  return rows[0] ?? { id, attempt: -1 };
}
