import pg from 'pg';

/** What sessions of a server keep that their clients might have left there. */
export interface SessionState {
  readonly pid: number;
  readonly timeout: string;
  readonly channels: number;
  readonly statements: number;
  readonly tables: number;
}

const STATE = `SELECT pg_backend_pid() AS pid, current_setting('statement_timeout') AS timeout,
  (SELECT count(*)::int FROM pg_listening_channels()) AS channels,
  (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
  (SELECT count(*)::int FROM pg_class WHERE relpersistence = 't') AS tables`;

/** Looks at several sessions through a pooler: transactions at the same time are in different ones. */
export async function sessionStates(url: string, count: number): Promise<SessionState[]> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }));
  const all = <T>(work: (client: pg.Client) => Promise<T>): Promise<T[]> => Promise.all(clients.map(work));
  await all((client) => client.connect());
  try {
    await all((client) => client.query('BEGIN'));
    const states = await all((client) => client.query<SessionState>(STATE));
    return states.flatMap(({ rows }) => rows);
  } finally {
    await all((client) => client.end());
  }
}
