import pg from 'pg';

/** Runs one statement on a separate connection, for tests that look behind the store. */
// biome-ignore lint/suspicious/noExplicitAny: rows have every shape
export async function queryDatabase(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
