import { type ConnectionOptions, createClient } from '@svc/postgres-client';
import pg from 'pg';
import { destroySocket, socketOf } from './client-socket.ts';
import { toStoreError } from './errors.ts';

/** What of `pg` a watched connection is known by. */
interface Watched {
  readonly processID: number;
  readonly readyForQuery: boolean;
}

const PROBE_TIMEOUT_MS = 5_000;

/**
 * Detects servers that have fallen silent, because their machine stopped or the network drops packets. Without it, a query
 * would wait as long as the kernel retries: a quarter of an hour, or without a limit.
 *
 * If nothing was received on a connection for `silenceMs` while a query is running, asks the server on another connection.
 * If the server still works on the query, the connection stays open; else it is closed, and the query fails as
 * `unavailable`.
 */
export function watchConnections(pool: pg.Pool, options: ConnectionOptions, silenceMs: number): void {
  pool.on('connect', (client) => {
    const watched = client as unknown as Watched;
    const stream = socketOf(client);
    stream.setTimeout(silenceMs);
    stream.on('timeout', () => {
      stream.setTimeout(silenceMs);
      if (watched.readyForQuery) return;
      void isAtWork(options, watched.processID).then((atWork) => {
        if (!atWork && !watched.readyForQuery) {
          stream.destroy(new Error('Connection terminated: the database has fallen silent'));
        }
      });
    });
  });
}

/** Whether the server works on a query of this connection, as far as that can be found out. */
async function isAtWork(options: ConnectionOptions, processId: number): Promise<boolean> {
  const client = createClient(options, {
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; state: string | null }>(
      'SELECT pg_backend_pid() AS own, (SELECT state FROM pg_stat_activity WHERE pid = $1) AS state',
      [processId],
    );
    const [found] = rows;
    // Behind a pooler the number that we know is not that of the process which does our work.
    if (found?.own !== (client as unknown as Watched).processID) return true;
    return found.state !== null && !found.state.startsWith('idle');
  } catch (error) {
    // A server that answers, though not to this, is there.
    return error instanceof pg.DatabaseError && toStoreError(error) === error;
  } finally {
    destroySocket(client);
  }
}
