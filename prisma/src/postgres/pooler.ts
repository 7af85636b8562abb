import type pg from 'pg';
import { processIdOf } from './pg-internals.ts';

/** Whether a connection goes through a pooler: another process works for it than its start named. */
export async function isThroughPooler(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== processIdOf(client);
}
