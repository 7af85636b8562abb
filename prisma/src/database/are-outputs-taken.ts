import type pg from 'pg';

/** Whether another run that works takes outputs of these runs. What is deleted meanwhile would be paid for again. */
export async function areOutputsTaken(client: pg.ClientBase, runIds: readonly string[]): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM runs WHERE finished_at IS NULL AND reused_run_id = ANY ($1::uuid[]) AND NOT id = ANY ($1::uuid[])
     LIMIT 1`,
    [runIds],
  );
  return rowCount !== 0;
}
