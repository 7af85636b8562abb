import type { Socket } from 'node:net';
import { type ConnectionOptions, connectionConfig } from '@svc/postgres-client';
import pg from 'pg';
import { watchConnections } from './watch-connections.ts';

/** How long a query may go without a byte before the server is asked whether it still works on it. */
const SILENCE_MS = 30_000;

/**
 * A pool that outlives its connections: one that breaks while idle is dropped in silence, and the next query
 * opens another; one whose server has fallen silent is closed.
 */
export function createPool(
  options: ConnectionOptions & {
    readonly size: number;
    readonly silenceMs?: number;
    /** how long a statement may take; without, as long as it likes. Transactions that write have no such limit */
    readonly statementTimeoutMs?: number | undefined;
  },
): pg.Pool {
  const { statementTimeoutMs } = options;
  const pool = new pg.Pool({
    ...connectionConfig(options),
    max: options.size,
    // Not a parameter of the connection's start: a pooler may refuse those.
    ...(statementTimeoutMs === undefined
      ? {}
      : { onConnect: (client) => client.query(`SET statement_timeout = ${statementTimeoutMs}`) }),
  });
  pool.on('error', () => undefined);
  pool.on('connect', containParserErrors);
  watchConnections(pool, options, options.silenceMs ?? SILENCE_MS);
  return pool;
}

/** The socket of a connection. */
export function streamOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/**
 * Makes an error of the driver's parser the end of its connection, and so of the query that uses it. The driver parses
 * inside the socket's `data` event, where a throw, such as for a value that no string can hold, would end the process.
 */
function containParserErrors(client: pg.ClientBase): void {
  const stream = streamOf(client);
  for (const parse of stream.listeners('data') as ((chunk: Buffer) => void)[]) {
    stream.off('data', parse);
    stream.on('data', (chunk: Buffer) => {
      try {
        parse(chunk);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
  }
}

/** Begins a transaction that writes, which may take as long as what it is given. */
const BEGIN_WRITE = 'BEGIN; SET LOCAL statement_timeout = 0';

/** Runs `work` in one transaction on one connection; a throw rolls back, and the connection goes back clean or not at all. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin: string = BEGIN_WRITE,
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
