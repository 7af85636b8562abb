import pg from 'pg';

/**
 * Locks a table until it is disposed of, so that statements wait in the middle of their work for as long as a test likes:
 * every statement, or with `SHARE` those that write.
 */
export async function lockTable(
  databaseUrl: string,
  table: 'datasets' | 'items' | 'run_items',
  mode: 'ACCESS EXCLUSIVE' | 'SHARE',
): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${table} IN ${mode} MODE`);
  return { [Symbol.asyncDispose]: () => client.end() };
}
