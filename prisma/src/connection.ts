import pg from 'pg';

/** How every connection of the store is made. */
export interface ConnectionOptions {
  /** postgresql:// URL */
  readonly url: string;
  /** shown in pg_stat_activity */
  readonly applicationName?: string;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Configuration of `pg` for one connection or a pool of them. */
export function connectionConfig(options: ConnectionOptions): pg.PoolConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
}

/**
 * A pool that outlives its connections: one that breaks while idle is dropped in silence, and the next query
 * opens another.
 */
export function createPool(options: ConnectionOptions & { readonly size: number }): pg.Pool {
  const pool = new pg.Pool({ ...connectionConfig(options), max: options.size });
  pool.on('error', () => undefined);
  return pool;
}

/** Runs `work` in one transaction on one connection; a throw rolls back, and the connection goes back clean or not at all. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  const client = await pool.connect();
  const ignore = (): void => undefined; // a connection that breaks fails the query that uses it
  client.on('error', ignore);
  let broken = false;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}
