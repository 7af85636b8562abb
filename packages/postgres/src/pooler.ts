import type pg from 'pg';

/** The process that works for a connection, as its start named it; a pooler makes up a number. */
export function processIdOf(client: pg.ClientBase): number {
  return (client as unknown as { readonly processID: number }).processID;
}

/** Whether a connection goes through a pooler: another process works for it than its start named. */
export async function isThroughPooler(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== processIdOf(client);
}
