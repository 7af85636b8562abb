import pg from 'pg';
import { type ConnectionOptions, connectionConfig } from './connection-config.ts';
import { watchConnections } from './watch-connections.ts';

/** How long a query may go without a byte before the server is asked whether it still works on it. */
const SILENCE_MS = 30_000;

/**
 * A pool that outlives its connections: one that breaks while idle is dropped in silence, and the next query
 * opens another; one whose server has fallen silent is closed.
 */
export function createPool(
  options: ConnectionOptions & { readonly size: number; readonly silenceMs?: number },
): pg.Pool {
  const pool = new pg.Pool({ ...connectionConfig(options), max: options.size });
  pool.on('error', () => undefined);
  watchConnections(pool, options, options.silenceMs ?? SILENCE_MS);
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
