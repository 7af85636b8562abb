import pg from 'pg';

/** Runs one statement on a separate connection, for tests that look behind the store. */
export async function queryDatabase(
  url: string,
  sql: string,
  values: unknown[] = [],
  // biome-ignore lint/suspicious/noExplicitAny: rows have every shape
): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}
